<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** One request being answered: its parameters, who it is of, and what lies behind, once it is needed. */
final class Exchange
{
    private ?Statements $statements = null;
    private ?Cache $cache = null;

    public function __construct(
        public readonly Settings $settings,
        public readonly Parameters $parameters,
        public readonly Session $session,
        private readonly string $requestId,
    ) {
    }

    /** The request's statements; the first call opens the connection, or takes the one that is kept. */
    public function sql(): Statements
    {
        return $this->statements ??= Statements::connect($this->settings, $this->requestId);
    }

    public function cache(): Cache
    {
        return $this->cache ??= Cache::connect($this->settings);
    }

    public function files(): FileStore
    {
        return new FileStore($this->settings->files);
    }

    public function geocoder(): Geocoder
    {
        return new Geocoder($this->settings->geocoder, $this->requestId);
    }

    /** Now, as the tables store it: UTC, whole seconds. */
    public function now(): string
    {
        return gmdate('Y-m-d H:i:s');
    }

    /** The user's name; who has not logged in gets no further. */
    public function user(): string
    {
        return $this->session->user() ?? throw new Sorry('you must log in first.');
    }
}
