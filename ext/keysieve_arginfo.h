/* Made by the generator of PHP 8.2. */
/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 9c537047d128ad4641c5c460d5d7c891facc6097 */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_KeySieve_may_contain, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, set, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_KeySieve_candidate_sets, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, sets, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_KeySieve_stats, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_KeySieve_begin_request, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_KeySieve_Membership_mayContain, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_KeySieve_Membership_mayContainMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_Membership_candidates arginfo_class_KeySieve_Membership_mayContainMany

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_KeySieve_Set___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keyProfile, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, throw, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_Set_mayContain arginfo_class_KeySieve_Membership_mayContain

#define arginfo_class_KeySieve_Set_mayContainMany arginfo_class_KeySieve_Membership_mayContainMany

#define arginfo_class_KeySieve_Set_candidates arginfo_class_KeySieve_Membership_mayContainMany

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_KeySieve_Set_availability, 0, 0, KeySieve\\Availability, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_KeySieve_Set_info, 0, 0, KeySieve\\Info, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_KeySieve_Map___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keyProfile, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_KeySieve_Map_get, 0, 2, IS_LONG, 1)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
	ZEND_ARG_TYPE_INFO(0, ifUnknown, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_KeySieve_Map_getMany, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO(0, ifUnknown, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_Map_availability arginfo_class_KeySieve_Set_availability

#define arginfo_class_KeySieve_Map_info arginfo_class_KeySieve_Set_info

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_KeySieve_Info___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_SeenKeys_addIfNew arginfo_class_KeySieve_Membership_mayContain

#define arginfo_class_KeySieve_SeenKeys_addManyIfNew arginfo_class_KeySieve_Membership_mayContainMany

#define arginfo_class_KeySieve_SeenKeys_mayContain arginfo_class_KeySieve_Membership_mayContain

#define arginfo_class_KeySieve_SeenKeys_availability arginfo_class_KeySieve_Set_availability

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_KeySieve_SeenSet___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_SeenSet_addIfNew arginfo_class_KeySieve_Membership_mayContain

#define arginfo_class_KeySieve_SeenSet_addManyIfNew arginfo_class_KeySieve_Membership_mayContainMany

#define arginfo_class_KeySieve_SeenSet_mayContain arginfo_class_KeySieve_Membership_mayContain

#define arginfo_class_KeySieve_SeenSet_availability arginfo_class_KeySieve_Set_availability

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_KeySieve_SeenSet_info, 0, 0, KeySieve\\SeenInfo, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_SeenInfo___construct arginfo_class_KeySieve_Info___construct

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_KeySieve_LocalFilter___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, keys, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_KeySieve_LocalFilter_add, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_KeySieve_LocalFilter_addIfNew arginfo_class_KeySieve_Membership_mayContain

#define arginfo_class_KeySieve_LocalFilter_mayContain arginfo_class_KeySieve_Membership_mayContain

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_KeySieve_UnavailableException___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, set, IS_STRING, 0)
	ZEND_ARG_OBJ_INFO(0, availability, KeySieve\\Availability, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, message, IS_STRING, 0, "\"\"")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, previous, Throwable, 1, "null")
ZEND_END_ARG_INFO()


ZEND_FUNCTION(KeySieve_may_contain);
ZEND_FUNCTION(KeySieve_candidate_sets);
ZEND_FUNCTION(KeySieve_stats);
ZEND_FUNCTION(KeySieve_begin_request);
ZEND_METHOD(KeySieve_Set, __construct);
ZEND_METHOD(KeySieve_Set, mayContain);
ZEND_METHOD(KeySieve_Set, mayContainMany);
ZEND_METHOD(KeySieve_Set, candidates);
ZEND_METHOD(KeySieve_Set, availability);
ZEND_METHOD(KeySieve_Set, info);
ZEND_METHOD(KeySieve_Map, __construct);
ZEND_METHOD(KeySieve_Map, get);
ZEND_METHOD(KeySieve_Map, getMany);
ZEND_METHOD(KeySieve_Info, __construct);
ZEND_METHOD(KeySieve_SeenSet, __construct);
ZEND_METHOD(KeySieve_SeenSet, addIfNew);
ZEND_METHOD(KeySieve_SeenSet, addManyIfNew);
ZEND_METHOD(KeySieve_SeenSet, mayContain);
ZEND_METHOD(KeySieve_SeenSet, availability);
ZEND_METHOD(KeySieve_SeenSet, info);
ZEND_METHOD(KeySieve_SeenInfo, __construct);
ZEND_METHOD(KeySieve_LocalFilter, __construct);
ZEND_METHOD(KeySieve_LocalFilter, add);
ZEND_METHOD(KeySieve_LocalFilter, addIfNew);
ZEND_METHOD(KeySieve_LocalFilter, mayContain);
ZEND_METHOD(KeySieve_UnavailableException, __construct);


static const zend_function_entry ext_functions[] = {
	ZEND_NS_FALIAS("KeySieve", may_contain, KeySieve_may_contain, arginfo_KeySieve_may_contain)
	ZEND_NS_FALIAS("KeySieve", candidate_sets, KeySieve_candidate_sets, arginfo_KeySieve_candidate_sets)
	ZEND_NS_FALIAS("KeySieve", stats, KeySieve_stats, arginfo_KeySieve_stats)
	ZEND_NS_FALIAS("KeySieve", begin_request, KeySieve_begin_request, arginfo_KeySieve_begin_request)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_Membership_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_Membership, mayContain, arginfo_class_KeySieve_Membership_mayContain, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_Membership, mayContainMany, arginfo_class_KeySieve_Membership_mayContainMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_Membership, candidates, arginfo_class_KeySieve_Membership_candidates, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_Availability_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_Set_methods[] = {
	ZEND_ME(KeySieve_Set, __construct, arginfo_class_KeySieve_Set___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Set, mayContain, arginfo_class_KeySieve_Set_mayContain, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Set, mayContainMany, arginfo_class_KeySieve_Set_mayContainMany, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Set, candidates, arginfo_class_KeySieve_Set_candidates, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Set, availability, arginfo_class_KeySieve_Set_availability, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Set, info, arginfo_class_KeySieve_Set_info, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_Map_methods[] = {
	ZEND_ME(KeySieve_Map, __construct, arginfo_class_KeySieve_Map___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Map, get, arginfo_class_KeySieve_Map_get, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_Map, getMany, arginfo_class_KeySieve_Map_getMany, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(KeySieve_Set, availability, availability, arginfo_class_KeySieve_Map_availability, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(KeySieve_Set, info, info, arginfo_class_KeySieve_Map_info, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_Info_methods[] = {
	ZEND_ME(KeySieve_Info, __construct, arginfo_class_KeySieve_Info___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_SeenKeys_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_SeenKeys, addIfNew, arginfo_class_KeySieve_SeenKeys_addIfNew, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_SeenKeys, addManyIfNew, arginfo_class_KeySieve_SeenKeys_addManyIfNew, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_SeenKeys, mayContain, arginfo_class_KeySieve_SeenKeys_mayContain, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(KeySieve_SeenKeys, availability, arginfo_class_KeySieve_SeenKeys_availability, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_SeenSet_methods[] = {
	ZEND_ME(KeySieve_SeenSet, __construct, arginfo_class_KeySieve_SeenSet___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_SeenSet, addIfNew, arginfo_class_KeySieve_SeenSet_addIfNew, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_SeenSet, addManyIfNew, arginfo_class_KeySieve_SeenSet_addManyIfNew, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_SeenSet, mayContain, arginfo_class_KeySieve_SeenSet_mayContain, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_SeenSet, availability, arginfo_class_KeySieve_SeenSet_availability, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_SeenSet, info, arginfo_class_KeySieve_SeenSet_info, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_SeenInfo_methods[] = {
	ZEND_ME(KeySieve_SeenInfo, __construct, arginfo_class_KeySieve_SeenInfo___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_LocalFilter_methods[] = {
	ZEND_ME(KeySieve_LocalFilter, __construct, arginfo_class_KeySieve_LocalFilter___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_LocalFilter, add, arginfo_class_KeySieve_LocalFilter_add, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_LocalFilter, addIfNew, arginfo_class_KeySieve_LocalFilter_addIfNew, ZEND_ACC_PUBLIC)
	ZEND_ME(KeySieve_LocalFilter, mayContain, arginfo_class_KeySieve_LocalFilter_mayContain, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_Exception_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_UnavailableException_methods[] = {
	ZEND_ME(KeySieve_UnavailableException, __construct, arginfo_class_KeySieve_UnavailableException___construct, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_KeySieve_InvalidNameException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_KeySieve_Membership(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "Membership", class_KeySieve_Membership_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_Availability(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("KeySieve\\Availability", IS_STRING, class_KeySieve_Availability_methods);

	zval enum_case_Ready_value;
	zend_string *enum_case_Ready_value_str = zend_string_init("ready", strlen("ready"), 1);
	ZVAL_STR(&enum_case_Ready_value, enum_case_Ready_value_str);
	zend_enum_add_case_cstr(class_entry, "Ready", &enum_case_Ready_value);

	zval enum_case_Missing_value;
	zend_string *enum_case_Missing_value_str = zend_string_init("missing", strlen("missing"), 1);
	ZVAL_STR(&enum_case_Missing_value, enum_case_Missing_value_str);
	zend_enum_add_case_cstr(class_entry, "Missing", &enum_case_Missing_value);

	zval enum_case_Expired_value;
	zend_string *enum_case_Expired_value_str = zend_string_init("expired", strlen("expired"), 1);
	ZVAL_STR(&enum_case_Expired_value, enum_case_Expired_value_str);
	zend_enum_add_case_cstr(class_entry, "Expired", &enum_case_Expired_value);

	zval enum_case_Bypassed_value;
	zend_string *enum_case_Bypassed_value_str = zend_string_init("bypassed", strlen("bypassed"), 1);
	ZVAL_STR(&enum_case_Bypassed_value, enum_case_Bypassed_value_str);
	zend_enum_add_case_cstr(class_entry, "Bypassed", &enum_case_Bypassed_value);

	zval enum_case_Incompatible_value;
	zend_string *enum_case_Incompatible_value_str = zend_string_init("incompatible", strlen("incompatible"), 1);
	ZVAL_STR(&enum_case_Incompatible_value, enum_case_Incompatible_value_str);
	zend_enum_add_case_cstr(class_entry, "Incompatible", &enum_case_Incompatible_value);

	zval enum_case_Disabled_value;
	zend_string *enum_case_Disabled_value_str = zend_string_init("disabled", strlen("disabled"), 1);
	ZVAL_STR(&enum_case_Disabled_value, enum_case_Disabled_value_str);
	zend_enum_add_case_cstr(class_entry, "Disabled", &enum_case_Disabled_value);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_Set(zend_class_entry *class_entry_KeySieve_Membership)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "Set", class_KeySieve_Set_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_KeySieve_Membership);

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_keyProfile_default_value;
	ZVAL_UNDEF(&property_keyProfile_default_value);
	zend_string *property_keyProfile_name = zend_string_init("keyProfile", sizeof("keyProfile") - 1, 1);
	zend_declare_typed_property(class_entry, property_keyProfile_name, &property_keyProfile_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_keyProfile_name);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_Map(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "Map", class_KeySieve_Map_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	zval property_keyProfile_default_value;
	ZVAL_UNDEF(&property_keyProfile_default_value);
	zend_string *property_keyProfile_name = zend_string_init("keyProfile", sizeof("keyProfile") - 1, 1);
	zend_declare_typed_property(class_entry, property_keyProfile_name, &property_keyProfile_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_keyProfile_name);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_Info(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "Info", class_KeySieve_Info_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_generation_default_value;
	ZVAL_UNDEF(&property_generation_default_value);
	zend_string *property_generation_name = zend_string_init("generation", sizeof("generation") - 1, 1);
	zend_declare_typed_property(class_entry, property_generation_name, &property_generation_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_generation_name);

	zval property_publication_default_value;
	ZVAL_UNDEF(&property_publication_default_value);
	zend_string *property_publication_name = zend_string_init("publication", sizeof("publication") - 1, 1);
	zend_declare_typed_property(class_entry, property_publication_name, &property_publication_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_publication_name);

	zval property_kind_default_value;
	ZVAL_UNDEF(&property_kind_default_value);
	zend_string *property_kind_name = zend_string_init("kind", sizeof("kind") - 1, 1);
	zend_declare_typed_property(class_entry, property_kind_name, &property_kind_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_kind_name);

	zval property_keyCount_default_value;
	ZVAL_UNDEF(&property_keyCount_default_value);
	zend_string *property_keyCount_name = zend_string_init("keyCount", sizeof("keyCount") - 1, 1);
	zend_declare_typed_property(class_entry, property_keyCount_name, &property_keyCount_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_keyCount_name);

	zval property_knownAbsentCount_default_value;
	ZVAL_UNDEF(&property_knownAbsentCount_default_value);
	zend_string *property_knownAbsentCount_name = zend_string_init("knownAbsentCount", sizeof("knownAbsentCount") - 1, 1);
	zend_declare_typed_property(class_entry, property_knownAbsentCount_name, &property_knownAbsentCount_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_knownAbsentCount_name);

	zval property_valueBits_default_value;
	ZVAL_UNDEF(&property_valueBits_default_value);
	zend_string *property_valueBits_name = zend_string_init("valueBits", sizeof("valueBits") - 1, 1);
	zend_declare_typed_property(class_entry, property_valueBits_name, &property_valueBits_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_valueBits_name);

	zval property_shardCount_default_value;
	ZVAL_UNDEF(&property_shardCount_default_value);
	zend_string *property_shardCount_name = zend_string_init("shardCount", sizeof("shardCount") - 1, 1);
	zend_declare_typed_property(class_entry, property_shardCount_name, &property_shardCount_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_shardCount_name);

	zval property_shardBytes_default_value;
	ZVAL_UNDEF(&property_shardBytes_default_value);
	zend_string *property_shardBytes_name = zend_string_init("shardBytes", sizeof("shardBytes") - 1, 1);
	zend_declare_typed_property(class_entry, property_shardBytes_name, &property_shardBytes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_shardBytes_name);

	zval property_sizeBytes_default_value;
	ZVAL_UNDEF(&property_sizeBytes_default_value);
	zend_string *property_sizeBytes_name = zend_string_init("sizeBytes", sizeof("sizeBytes") - 1, 1);
	zend_declare_typed_property(class_entry, property_sizeBytes_name, &property_sizeBytes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_sizeBytes_name);

	zval property_bitsPerKey_default_value;
	ZVAL_UNDEF(&property_bitsPerKey_default_value);
	zend_string *property_bitsPerKey_name = zend_string_init("bitsPerKey", sizeof("bitsPerKey") - 1, 1);
	zend_declare_typed_property(class_entry, property_bitsPerKey_name, &property_bitsPerKey_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_bitsPerKey_name);

	zval property_targetFalsePositiveRate_default_value;
	ZVAL_UNDEF(&property_targetFalsePositiveRate_default_value);
	zend_string *property_targetFalsePositiveRate_name = zend_string_init("targetFalsePositiveRate", sizeof("targetFalsePositiveRate") - 1, 1);
	zend_declare_typed_property(class_entry, property_targetFalsePositiveRate_name, &property_targetFalsePositiveRate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_targetFalsePositiveRate_name);

	zval property_estimatedFalsePositiveRate_default_value;
	ZVAL_UNDEF(&property_estimatedFalsePositiveRate_default_value);
	zend_string *property_estimatedFalsePositiveRate_name = zend_string_init("estimatedFalsePositiveRate", sizeof("estimatedFalsePositiveRate") - 1, 1);
	zend_declare_typed_property(class_entry, property_estimatedFalsePositiveRate_name, &property_estimatedFalsePositiveRate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_estimatedFalsePositiveRate_name);

	zval property_fillRatio_default_value;
	ZVAL_UNDEF(&property_fillRatio_default_value);
	zend_string *property_fillRatio_name = zend_string_init("fillRatio", sizeof("fillRatio") - 1, 1);
	zend_declare_typed_property(class_entry, property_fillRatio_name, &property_fillRatio_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_fillRatio_name);

	zval property_keyProfile_default_value;
	ZVAL_UNDEF(&property_keyProfile_default_value);
	zend_string *property_keyProfile_name = zend_string_init("keyProfile", sizeof("keyProfile") - 1, 1);
	zend_declare_typed_property(class_entry, property_keyProfile_name, &property_keyProfile_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_keyProfile_name);

	zend_string *property_asOf_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_asOf_default_value;
	ZVAL_UNDEF(&property_asOf_default_value);
	zend_string *property_asOf_name = zend_string_init("asOf", sizeof("asOf") - 1, 1);
	zend_declare_typed_property(class_entry, property_asOf_name, &property_asOf_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_asOf_class_DateTimeImmutable, 0, 0));
	zend_string_release(property_asOf_name);

	zend_string *property_builtAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_builtAt_default_value;
	ZVAL_UNDEF(&property_builtAt_default_value);
	zend_string *property_builtAt_name = zend_string_init("builtAt", sizeof("builtAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_builtAt_name, &property_builtAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_builtAt_class_DateTimeImmutable, 0, 0));
	zend_string_release(property_builtAt_name);

	zend_string *property_publishedAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_publishedAt_default_value;
	ZVAL_UNDEF(&property_publishedAt_default_value);
	zend_string *property_publishedAt_name = zend_string_init("publishedAt", sizeof("publishedAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_publishedAt_name, &property_publishedAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_publishedAt_class_DateTimeImmutable, 0, 0));
	zend_string_release(property_publishedAt_name);

	zend_string *property_lastConfirmedAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_lastConfirmedAt_default_value;
	ZVAL_UNDEF(&property_lastConfirmedAt_default_value);
	zend_string *property_lastConfirmedAt_name = zend_string_init("lastConfirmedAt", sizeof("lastConfirmedAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_lastConfirmedAt_name, &property_lastConfirmedAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_lastConfirmedAt_class_DateTimeImmutable, 0, MAY_BE_NULL));
	zend_string_release(property_lastConfirmedAt_name);

	zend_string *property_validUntil_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_validUntil_default_value;
	ZVAL_UNDEF(&property_validUntil_default_value);
	zend_string *property_validUntil_name = zend_string_init("validUntil", sizeof("validUntil") - 1, 1);
	zend_declare_typed_property(class_entry, property_validUntil_name, &property_validUntil_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_validUntil_class_DateTimeImmutable, 0, MAY_BE_NULL));
	zend_string_release(property_validUntil_name);

	zval property_addedKeys_default_value;
	ZVAL_UNDEF(&property_addedKeys_default_value);
	zend_string *property_addedKeys_name = zend_string_init("addedKeys", sizeof("addedKeys") - 1, 1);
	zend_declare_typed_property(class_entry, property_addedKeys_name, &property_addedKeys_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_addedKeys_name);

	zval property_trouble_default_value;
	ZVAL_UNDEF(&property_trouble_default_value);
	zend_string *property_trouble_name = zend_string_init("trouble", sizeof("trouble") - 1, 1);
	zend_declare_typed_property(class_entry, property_trouble_name, &property_trouble_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_trouble_name);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_SeenKeys(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "SeenKeys", class_KeySieve_SeenKeys_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_SeenSet(zend_class_entry *class_entry_KeySieve_SeenKeys)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "SeenSet", class_KeySieve_SeenSet_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_KeySieve_SeenKeys);

	zval property_name_default_value;
	ZVAL_UNDEF(&property_name_default_value);
	zend_string *property_name_name = zend_string_init("name", sizeof("name") - 1, 1);
	zend_declare_typed_property(class_entry, property_name_name, &property_name_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_name_name);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_SeenInfo(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "SeenInfo", class_KeySieve_SeenInfo_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zend_string *property_windowBeginsAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_windowBeginsAt_default_value;
	ZVAL_UNDEF(&property_windowBeginsAt_default_value);
	zend_string *property_windowBeginsAt_name = zend_string_init("windowBeginsAt", sizeof("windowBeginsAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_windowBeginsAt_name, &property_windowBeginsAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_windowBeginsAt_class_DateTimeImmutable, 0, 0));
	zend_string_release(property_windowBeginsAt_name);

	zend_string *property_windowEndsAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_windowEndsAt_default_value;
	ZVAL_UNDEF(&property_windowEndsAt_default_value);
	zend_string *property_windowEndsAt_name = zend_string_init("windowEndsAt", sizeof("windowEndsAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_windowEndsAt_name, &property_windowEndsAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_windowEndsAt_class_DateTimeImmutable, 0, 0));
	zend_string_release(property_windowEndsAt_name);

	zend_string *property_oldestBeginsAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_oldestBeginsAt_default_value;
	ZVAL_UNDEF(&property_oldestBeginsAt_default_value);
	zend_string *property_oldestBeginsAt_name = zend_string_init("oldestBeginsAt", sizeof("oldestBeginsAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_oldestBeginsAt_name, &property_oldestBeginsAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_oldestBeginsAt_class_DateTimeImmutable, 0, 0));
	zend_string_release(property_oldestBeginsAt_name);

	zval property_windows_default_value;
	ZVAL_UNDEF(&property_windows_default_value);
	zend_string *property_windows_name = zend_string_init("windows", sizeof("windows") - 1, 1);
	zend_declare_typed_property(class_entry, property_windows_name, &property_windows_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_windows_name);

	zval property_filters_default_value;
	ZVAL_UNDEF(&property_filters_default_value);
	zend_string *property_filters_name = zend_string_init("filters", sizeof("filters") - 1, 1);
	zend_declare_typed_property(class_entry, property_filters_name, &property_filters_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_filters_name);

	zval property_windowCapacity_default_value;
	ZVAL_UNDEF(&property_windowCapacity_default_value);
	zend_string *property_windowCapacity_name = zend_string_init("windowCapacity", sizeof("windowCapacity") - 1, 1);
	zend_declare_typed_property(class_entry, property_windowCapacity_name, &property_windowCapacity_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_windowCapacity_name);

	zval property_estimatedWindowKeys_default_value;
	ZVAL_UNDEF(&property_estimatedWindowKeys_default_value);
	zend_string *property_estimatedWindowKeys_name = zend_string_init("estimatedWindowKeys", sizeof("estimatedWindowKeys") - 1, 1);
	zend_declare_typed_property(class_entry, property_estimatedWindowKeys_name, &property_estimatedWindowKeys_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_estimatedWindowKeys_name);

	zval property_sizeBytes_default_value;
	ZVAL_UNDEF(&property_sizeBytes_default_value);
	zend_string *property_sizeBytes_name = zend_string_init("sizeBytes", sizeof("sizeBytes") - 1, 1);
	zend_declare_typed_property(class_entry, property_sizeBytes_name, &property_sizeBytes_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_sizeBytes_name);

	zval property_targetFalsePositiveRate_default_value;
	ZVAL_UNDEF(&property_targetFalsePositiveRate_default_value);
	zend_string *property_targetFalsePositiveRate_name = zend_string_init("targetFalsePositiveRate", sizeof("targetFalsePositiveRate") - 1, 1);
	zend_declare_typed_property(class_entry, property_targetFalsePositiveRate_name, &property_targetFalsePositiveRate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_targetFalsePositiveRate_name);

	zval property_estimatedFalsePositiveRate_default_value;
	ZVAL_UNDEF(&property_estimatedFalsePositiveRate_default_value);
	zend_string *property_estimatedFalsePositiveRate_name = zend_string_init("estimatedFalsePositiveRate", sizeof("estimatedFalsePositiveRate") - 1, 1);
	zend_declare_typed_property(class_entry, property_estimatedFalsePositiveRate_name, &property_estimatedFalsePositiveRate_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_estimatedFalsePositiveRate_name);

	zval property_onUnavailable_default_value;
	ZVAL_UNDEF(&property_onUnavailable_default_value);
	zend_string *property_onUnavailable_name = zend_string_init("onUnavailable", sizeof("onUnavailable") - 1, 1);
	zend_declare_typed_property(class_entry, property_onUnavailable_name, &property_onUnavailable_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_onUnavailable_name);

	zend_string *property_lookedAt_class_DateTimeImmutable = zend_string_init("DateTimeImmutable", sizeof("DateTimeImmutable")-1, 1);
	zval property_lookedAt_default_value;
	ZVAL_UNDEF(&property_lookedAt_default_value);
	zend_string *property_lookedAt_name = zend_string_init("lookedAt", sizeof("lookedAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_lookedAt_name, &property_lookedAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_lookedAt_class_DateTimeImmutable, 0, MAY_BE_NULL));
	zend_string_release(property_lookedAt_name);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_LocalFilter(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "LocalFilter", class_KeySieve_LocalFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_Exception(zend_class_entry *class_entry_Throwable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "Exception", class_KeySieve_Exception_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Throwable);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_UnavailableException(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_KeySieve_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "UnavailableException", class_KeySieve_UnavailableException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	zend_class_implements(class_entry, 1, class_entry_KeySieve_Exception);

	zval property_set_default_value;
	ZVAL_UNDEF(&property_set_default_value);
	zend_string *property_set_name = zend_string_init("set", sizeof("set") - 1, 1);
	zend_declare_typed_property(class_entry, property_set_name, &property_set_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_set_name);

	zend_string *property_availability_class_KeySieve_Availability = zend_string_init("KeySieve\\Availability", sizeof("KeySieve\\Availability")-1, 1);
	zval property_availability_default_value;
	ZVAL_UNDEF(&property_availability_default_value);
	zend_string *property_availability_name = zend_string_init("availability", sizeof("availability") - 1, 1);
	zend_declare_typed_property(class_entry, property_availability_name, &property_availability_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_availability_class_KeySieve_Availability, 0, 0));
	zend_string_release(property_availability_name);

	return class_entry;
}

static zend_class_entry *register_class_KeySieve_InvalidNameException(zend_class_entry *class_entry_ValueError, zend_class_entry *class_entry_KeySieve_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "KeySieve", "InvalidNameException", class_KeySieve_InvalidNameException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_ValueError);
	zend_class_implements(class_entry, 1, class_entry_KeySieve_Exception);

	return class_entry;
}
