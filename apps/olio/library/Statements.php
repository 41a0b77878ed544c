<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use PDO;
use PDOException;
use PDOStatement;
use Throwable;

/**
 * The statements of one request on its one connection. Each carries the request's id as a leading
 * comment, so that it can be told on the wire whose it is. Transactions are spoken in SQL: PDO's
 * own would carry no comment.
 */
final class Statements
{
    private const ATTEMPTS = 3;

    private readonly string $comment;

    private function __construct(
        private readonly PDO $connection,
        private readonly string $lastId,
        string $requestId,
    ) {
        $this->comment = $requestId === '' ? '' : "/*rid=$requestId*/ ";
    }

    public static function connect(Settings $settings, string $requestId): self
    {
        $options = [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            PDO::ATTR_PERSISTENT => $settings->persistent,
        ];
        // One message to the server and one back for each statement, with no statement left behind.
        $options[$settings->isPostgreSQL() ? PDO::PGSQL_ATTR_DISABLE_PREPARES : PDO::ATTR_EMULATE_PREPARES] = true;
        return new self(
            new PDO($settings->dsn, $settings->user, $settings->password, $options),
            $settings->isPostgreSQL() ? 'SELECT LASTVAL()' : 'SELECT LAST_INSERT_ID()',
            $requestId,
        );
    }

    /** @return list<array<string, mixed>> */
    public function rows(string $sql, int|string ...$parameters): array
    {
        return $this->run($sql, $parameters)->fetchAll();
    }

    /** @return ?array<string, mixed> The first row, if there is one. */
    public function row(string $sql, int|string ...$parameters): ?array
    {
        return $this->rows($sql, ...$parameters)[0] ?? null;
    }

    /** The first value of the first row, null without one. */
    public function value(string $sql, int|string ...$parameters): mixed
    {
        $row = $this->row($sql, ...$parameters);
        return $row === null ? null : reset($row);
    }

    /** Runs an INSERT, UPDATE or DELETE; how many rows it changed. */
    public function change(string $sql, int|string ...$parameters): int
    {
        return $this->run($sql, $parameters)->rowCount();
    }

    /** Runs an INSERT into a table that numbers its rows; the new row's number. */
    public function insert(string $sql, int|string ...$parameters): int
    {
        $this->run($sql, $parameters);
        return (int) $this->value($this->lastId);
    }

    /**
     * Runs the work in a transaction. A deadlock, or a conflict that a cluster finds at the commit
     * (SQLSTATE class 40), is tried again; any other failure rolls back and is thrown.
     *
     * @template Made
     * @param callable(): Made $work
     * @return Made
     */
    public function transaction(callable $work): mixed
    {
        for ($attempt = 1; ; $attempt++) {
            $this->speak('START TRANSACTION');
            try {
                $made = $work();
                $this->speak('COMMIT');
                return $made;
            } catch (Throwable $failure) {
                $this->rollback();
                if ($attempt === self::ATTEMPTS || !self::isOfClass('40', $failure)) {
                    throw $failure;
                }
            }
        }
    }

    /** Whether the statement failed because a unique key is taken (SQLSTATE class 23). */
    public static function isDuplicate(PDOException $failure): bool
    {
        return self::isOfClass('23', $failure);
    }

    private static function isOfClass(string $class, Throwable $failure): bool
    {
        return $failure instanceof PDOException && str_starts_with((string) $failure->getCode(), $class);
    }

    private function rollback(): void
    {
        try {
            $this->speak('ROLLBACK');
        } catch (PDOException) {
            // The failure that led here is the one to tell.
        }
    }

    private function speak(string $sql): void
    {
        $this->connection->exec($this->comment . $sql);
    }

    /** @param list<int|string> $parameters */
    private function run(string $sql, array $parameters): PDOStatement
    {
        $statement = $this->connection->prepare($this->comment . $sql);
        foreach ($parameters as $place => $value) {
            $statement->bindValue($place + 1, $value, is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
        }
        $statement->execute();
        return $statement;
    }
}
