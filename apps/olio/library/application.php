<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** What every page begins with: `require` this file, then `Page::answer`. */

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, __NAMESPACE__ . '\\')) {
        require __DIR__ . strtr(substr($class, strlen(__NAMESPACE__)), '\\', '/') . '.php';
    }
});
