<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** A file that came with a form. */
final readonly class Upload
{
    private function __construct(private string $file, private string $type)
    {
    }

    /**
     * The file of a field, of one of these types by its name's ending; null where none was chosen.
     *
     * @param list<string> $types
     */
    public static function ofField(string $field, array $types): ?self
    {
        $came = $_FILES[$field] ?? null;
        if ($came === null || ($came['error'] ?? null) === UPLOAD_ERR_NO_FILE) {
            return null;
        }
        $wanted = 'one file that ends in .' . implode(' or .', $types);
        if ($came['error'] !== UPLOAD_ERR_OK || !is_uploaded_file($came['tmp_name'])) {
            throw new BadParameter($field, "$wanted, not too large");
        }
        $type = strtolower(pathinfo($came['name'], PATHINFO_EXTENSION));
        $type = $type === 'jpeg' ? 'jpg' : $type;
        if (!in_array($type, $types, true)) {
            throw new BadParameter($field, $wanted);
        }
        return new self($came['tmp_name'], $type);
    }

    /** Stores it under the name with its type's ending; that name. */
    public function keep(FileStore $files, string $name): string
    {
        $files->keep("$name.$this->type", $this->file);
        return "$name.$this->type";
    }

    /** Stores the thumbnail of what is a picture; its name. */
    public function keepThumbnail(FileStore $files, string $name): string
    {
        $small = tempnam(sys_get_temp_dir(), 'thumb');
        try {
            Thumbnail::write($this->file, $this->type, $small);
            $files->keep("$name.$this->type", $small);
        } finally {
            unlink($small);
        }
        return "$name.$this->type";
    }
}
