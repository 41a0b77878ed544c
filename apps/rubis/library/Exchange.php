<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

use Tierlab\Rubis\Data\Users;

/** One request being answered: its parameters, and its connection once it needs one. */
final class Exchange
{
    private const NAME_LENGTH = 20;

    private ?Statements $statements = null;

    public function __construct(
        public readonly Settings $settings,
        public readonly Parameters $parameters,
        private readonly string $requestId,
    ) {
    }

    /** The request's statements; the first call opens the connection, or takes the one that is kept. */
    public function sql(): Statements
    {
        return $this->statements ??= Statements::connect($this->settings, $this->requestId);
    }

    /** Now, as the tables store it: UTC, whole seconds; some days earlier or later. */
    public function now(int $days = 0): string
    {
        return gmdate('Y-m-d H:i:s', time() + 86_400 * $days);
    }

    /** The id of the user that the request's nickname and password belong to. */
    public function login(): int
    {
        $nickname = $this->parameters->text('nickname', self::NAME_LENGTH);
        $password = $this->parameters->text('password', self::NAME_LENGTH);
        return Users::login($this->sql(), $nickname, $password)
            ?? throw new Sorry("there is no user $nickname with that password.");
    }
}
