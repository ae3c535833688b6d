<?php

declare(strict_types=1);

namespace KeySieve;

if (!enum_exists(Availability::class, false)) { // see bootstrap.php
    /** Whether a set answers. Everything but Ready means: every answer is maybe. */
    enum Availability: string
    {
        /** Lookups are answered. */
        case Ready = 'ready';
        /** No such set, nothing published yet, its files are not trusted or damaged, or no source is configured. */
        case Missing = 'missing';
        /** Past the valid_for of its snapshot. */
        case Expired = 'expired';
        /** Switched off by `keysieve bypass`. */
        case Bypassed = 'bypassed';
        /** Published by a version that this one does not understand, or built with another key profile. */
        case Incompatible = 'incompatible';
        /** Switched off by keysieve.enabled. */
        case Disabled = 'disabled';
    }
}
