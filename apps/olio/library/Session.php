<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** What is remembered of a visitor from request to request, by a cookie: who has logged in. */
final class Session
{
    private const USER = 'user';

    /** Goes on with the visitor's session, or begins one. */
    public static function begin(): self
    {
        session_start(['use_strict_mode' => true, 'cookie_path' => Layout::BASE, 'cookie_httponly' => true]);
        return new self();
    }

    /** The name of who has logged in. */
    public function user(): ?string
    {
        return $_SESSION[self::USER] ?? null;
    }

    public function login(string $user): void
    {
        $_SESSION[self::USER] = $user;
    }

    /** Forgets the visitor. */
    public function end(): void
    {
        $_SESSION = [];
        session_destroy();
    }
}
