<?php

declare(strict_types=1);

namespace KeySieve;

if (!interface_exists(Exception::class, false)) { // see bootstrap.php
    /** Implemented by the exceptions of this package. Arguments of a wrong type throw PHP's own TypeError. */
    interface Exception extends \Throwable
    {
    }
}
