<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use PDOException;
use Tierlab\Olio\Data\Addresses;
use Tierlab\Olio\Data\Attendances;
use Tierlab\Olio\Data\Events;
use Tierlab\Olio\Data\Tags;

/** An event as its form describes it. */
final readonly class NewEvent
{
    private const MOST_TAGS = 20;

    /** @param list<string> $tags Sorted: whoever takes the same ones takes them in the same order. */
    private function __construct(
        private string $title,
        private string $description,
        private string $summary,
        private string $telephone,
        private string $timezone,
        private string $time,
        private Address $address,
        private array $tags,
        private ?Upload $image,
        private ?Upload $literature,
    ) {
    }

    public static function ofForm(Parameters $parameters): self
    {
        $hour = $parameters->number('hour', 0, 23);
        $minute = $parameters->number('minute', 0, 59);
        return new self(
            $parameters->text('title', 100),
            $parameters->text('description', 500),
            $parameters->optional('summary', 500),
            $parameters->optional('telephone', 25),
            $parameters->optional('timezone', 100),
            sprintf('%s %02d:%02d:00', $parameters->day(), $hour, $minute),
            Address::ofForm($parameters),
            self::tags($parameters->text('tags', 500)),
            Upload::ofField('upload_image', ['jpg', 'png']),
            Upload::ofField('upload_literature', ['pdf']),
        );
    }

    /** Stores it with its files; its number. */
    public function store(Exchange $exchange, string $user): int
    {
        $place = $exchange->geocoder()->locate($this->address);
        $sql = $exchange->sql();
        $id = $this->storeRows($sql, $user, $place, $exchange->now());
        $image = $thumbnail = $literature = '';
        $files = $exchange->files();
        if ($this->image !== null) {
            $thumbnail = $this->image->keepThumbnail($files, "e{$id}t");
            $image = $this->image->keep($files, "e$id");
        }
        if ($this->literature !== null) {
            $literature = $this->literature->keep($files, "e{$id}l");
        }
        // In a transaction of its own: the files are named once they are there.
        Events::nameFiles($sql, $id, $image, $thumbnail, $literature);
        return $id;
    }

    private function storeRows(Statements $sql, string $user, Coordinates $place, string $now): int
    {
        $work = fn(): int => $this->insert($sql, $user, $place, $now);
        try {
            return $sql->transaction($work);
        } catch (PDOException $failure) {
            if (!Statements::isDuplicate($failure)) {
                throw $failure;
            }
            // Somebody else made the same new tag meanwhile; now it is there.
            return $sql->transaction($work);
        }
    }

    private function insert(Statements $sql, string $user, Coordinates $place, string $now): int
    {
        $address = Addresses::insert($sql, $this->address, $place);
        $id = Events::insert(
            $sql,
            $this->title,
            $this->description,
            $this->summary,
            $user,
            $address,
            $this->telephone,
            $this->timezone,
            $this->time,
            $now,
        );
        foreach ($this->tags as $tag) {
            Tags::add($sql, $tag, $id);
        }
        Attendances::insert($sql, $id, $user);
        return $id;
    }

    /** @return list<string> */
    private static function tags(string $text): array
    {
        $tags = array_unique(preg_split('/[\s,]+/', $text, -1, PREG_SPLIT_NO_EMPTY) ?: []);
        sort($tags, SORT_STRING);
        $longest = max([0, ...array_map(strlen(...), $tags)]);
        if ($tags === [] || count($tags) > self::MOST_TAGS || $longest > 30) {
            throw new BadParameter('tags', 'one to ' . self::MOST_TAGS . ' words of at most 30 letters');
        }
        return $tags;
    }
}
