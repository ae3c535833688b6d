<?php

declare(strict_types=1);

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

/** @property string $title */
final class Article extends Model
{
    public $timestamps = false;
    protected $guarded = [];
}
