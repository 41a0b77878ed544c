<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use RuntimeException;

/**
 * How the application is set up: variables of the server (FastCGI parameters, SetEnv) or of the
 * environment (a pool's env[...]).
 */
final readonly class Settings
{
    /** @param list<array{string, int}> $cache */
    private function __construct(
        public string $dsn,
        public string $user,
        public string $password,
        /** Whether a PHP process keeps its connections from request to request. */
        public bool $persistent,
        /** Whether the published pages' known flaws are kept. */
        public bool $published,
        /** The memcached servers, addresses with ports; none: every page is made anew. */
        public array $cache,
        /** The geocoder's address and port. */
        public string $geocoder,
        /** The folder of the file store. */
        public string $files,
    ) {
    }

    public static function ofServer(): self
    {
        return new self(
            self::variable('OLIO_DSN'),
            self::variable('OLIO_USER', 'olio'),
            self::variable('OLIO_PASSWORD', ''),
            self::choice('OLIO_PERSISTENT', '1', '0') === '1',
            self::choice('OLIO_FIDELITY', 'corrected', 'published') === 'published',
            self::servers(self::variable('OLIO_MEMCACHED', '')),
            self::variable('OLIO_HTTP'),
            self::variable('OLIO_FILES'),
        );
    }

    /** Whether the database is PostgreSQL. */
    public function isPostgreSQL(): bool
    {
        return str_starts_with($this->dsn, 'pgsql:');
    }

    /** @return list<array{string, int}> */
    private static function servers(string $list): array
    {
        $servers = [];
        foreach (array_filter(explode(',', $list)) as $server) {
            $colon = strrpos($server, ':');
            if ($colon === false) {
                throw new RuntimeException("OLIO_MEMCACHED must list addresses with ports, not $server");
            }
            $servers[] = [substr($server, 0, $colon), (int) substr($server, $colon + 1)];
        }
        return $servers;
    }

    private static function variable(string $name, ?string $default = null): string
    {
        $environment = getenv($name);
        $value = $_SERVER[$name] ?? ($environment === false ? $default : $environment);
        return $value ?? throw new RuntimeException("the variable $name is not set");
    }

    /** The first choice is the default. */
    private static function choice(string $name, string ...$choices): string
    {
        $value = self::variable($name, $choices[0]);
        if (!in_array($value, $choices, true)) {
            throw new RuntimeException("$name must be one of " . implode(', ', $choices) . ", not $value");
        }
        return $value;
    }
}
