<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use GdImage;
use RuntimeException;

/** A small picture of a large one. */
final class Thumbnail
{
    /** The longer side. */
    private const SIDE = 120;

    /** How much larger the picture is in between, which is reduced without smoothing. */
    private const COARSE = 3;

    /** Writes the thumbnail of a JPEG or PNG picture, of the same type. */
    public static function write(string $picture, string $type, string $thumbnail): void
    {
        $whole = $type === 'png' ? @imagecreatefrompng($picture) : @imagecreatefromjpeg($picture);
        if ($whole === false) {
            throw new Sorry("the file is no $type picture.");
        }
        $small = self::reduced($whole);
        if (!($type === 'png' ? imagepng($small, $thumbnail) : imagejpeg($small, $thumbnail))) {
            throw new RuntimeException("cannot write the thumbnail $thumbnail");
        }
    }

    private static function reduced(GdImage $whole): GdImage
    {
        $width = imagesx($whole);
        $height = imagesy($whole);
        $factor = self::SIDE / max($width, $height);
        $smallWidth = max(1, (int) round($width * $factor));
        $smallHeight = max(1, (int) round($height * $factor));
        $from = $whole;
        if ($factor * self::COARSE < 1) {
            // Smoothing every pixel of a photo takes ten times as long, and nobody sees it.
            $from = imagecreatetruecolor($smallWidth * self::COARSE, $smallHeight * self::COARSE);
            imagecopyresized($from, $whole, 0, 0, 0, 0, imagesx($from), imagesy($from), $width, $height);
        }
        $small = imagecreatetruecolor($smallWidth, $smallHeight);
        imagecopyresampled($small, $from, 0, 0, 0, 0, $smallWidth, $smallHeight, imagesx($from), imagesy($from));
        return $small;
    }
}
