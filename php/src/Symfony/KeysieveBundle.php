<?php

declare(strict_types=1);

namespace KeySieve\Symfony;

use Symfony\Component\DependencyInjection\Extension\ExtensionInterface;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Sets as services, and the validators. Configuration describes what goes to config/packages/keysieve.yaml. */
final class KeysieveBundle extends Bundle
{
    public function getContainerExtension(): ExtensionInterface
    {
        return $this->extension instanceof ExtensionInterface ? $this->extension : $this->extension = new KeysieveExtension();
    }
}
