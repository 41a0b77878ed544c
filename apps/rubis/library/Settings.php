<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

use RuntimeException;

/**
 * How the application is set up: variables of the server (FastCGI parameters, SetEnv) or of the
 * environment (a pool's env[...]).
 */
final readonly class Settings
{
    private function __construct(
        public string $dsn,
        public string $user,
        public string $password,
        /** Whether a PHP process keeps its connection to the database from request to request. */
        public bool $persistent,
        /** Whether the published pages' known flaws are kept. */
        public bool $published,
    ) {
    }

    public static function ofServer(): self
    {
        return new self(
            self::variable('RUBIS_DSN'),
            self::variable('RUBIS_USER', 'rubis'),
            self::variable('RUBIS_PASSWORD', ''),
            self::choice('RUBIS_PERSISTENT', '1', '0') === '1',
            self::choice('RUBIS_FIDELITY', 'corrected', 'published') === 'published',
        );
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
