<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use Memcached;

/**
 * Pages, and parts of them, kept in memcached for two hours. Nothing that is written makes one go
 * earlier. One request makes what is missing; others wait for it.
 */
final class Cache
{
    public const EXPIRY_SECONDS = 7_200;

    private const LOCK_SECONDS = 5;

    private function __construct(
        private readonly ?Memcached $servers,
        private readonly int $pollMicroseconds,
    ) {
    }

    public static function connect(Settings $settings): self
    {
        // A client that looks five times a second makes the first users of a run wait for it.
        $poll = $settings->published ? 200_000 : 10_000;
        if ($settings->cache === []) {
            return new self(null, $poll);
        }
        $servers = $settings->persistent ? new Memcached('olio') : new Memcached();
        if ($servers->getServerList() === []) {
            $servers->setOptions([Memcached::OPT_COMPRESSION => false, Memcached::OPT_TCP_NODELAY => true]);
            $servers->addServers($settings->cache);
        }
        return new self($servers, $poll);
    }

    /**
     * What is kept by this name; where it is missing, `$make` makes it.
     *
     * @param callable(): string $make
     */
    public function kept(string $name, callable $make): string
    {
        if ($this->servers === null) {
            return $make();
        }
        $deadline = hrtime(true) + self::LOCK_SECONDS * 1_000_000_000;
        do {
            $found = $this->servers->get($name);
            if (is_string($found)) {
                return $found;
            }
            if ($this->servers->getResultCode() !== Memcached::RES_NOTFOUND) {
                // A cache that does not answer costs time, never a page.
                return $make();
            }
            if ($this->servers->add("$name.lock", '', self::LOCK_SECONDS)) {
                return $this->made($name, $make);
            }
            usleep($this->pollMicroseconds);
        } while (hrtime(true) < $deadline);
        return $make();
    }

    /** @param callable(): string $make */
    private function made(string $name, callable $make): string
    {
        try {
            // Somebody may have made it, and left the lock, since it was missing.
            $made = $this->servers?->get($name);
            if (!is_string($made)) {
                $made = $make();
                $this->servers?->set($name, $made, self::EXPIRY_SECONDS);
            }
            return $made;
        } finally {
            $this->servers?->delete("$name.lock");
        }
    }
}
