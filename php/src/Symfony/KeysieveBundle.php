<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use KeySieve\Reader\Settings;
use Symfony\Component\DependencyInjection\Extension\ExtensionInterface;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Sets as services, and the validators. Configuration describes what goes to config/packages/keysieve.yaml. */
final class KeysieveBundle extends Bundle
{
    public function boot(): void
    {
        $source = $this->container?->getParameter('keysieve.source');
        if (is_string($source)) {
            Settings::use($source);
        }
    }

    public function getContainerExtension(): ExtensionInterface
    {
        return $this->extension instanceof ExtensionInterface ? $this->extension : $this->extension = new KeysieveExtension();
    }
}
