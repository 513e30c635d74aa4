#include "cresources.h"

// Binary inclusion (C23, 6.10.4). A test compares this list with the folders.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char clients_javascript_src_diff_js[] = {
#embed "../../Clients/JavaScript/src/diff.js"
};
static const unsigned char clients_javascript_src_errors_js[] = {
#embed "../../Clients/JavaScript/src/errors.js"
};
static const unsigned char clients_javascript_src_files_js[] = {
#embed "../../Clients/JavaScript/src/files.js"
};
static const unsigned char clients_javascript_src_filter_js[] = {
#embed "../../Clients/JavaScript/src/filter.js"
};
static const unsigned char clients_javascript_src_ids_js[] = {
#embed "../../Clients/JavaScript/src/ids.js"
};
static const unsigned char clients_javascript_src_indexeddb_js[] = {
#embed "../../Clients/JavaScript/src/indexeddb.js"
};
static const unsigned char clients_javascript_src_json_js[] = {
#embed "../../Clients/JavaScript/src/json.js"
};
static const unsigned char clients_javascript_src_larder_js[] = {
#embed "../../Clients/JavaScript/src/larder.js"
};
static const unsigned char clients_javascript_src_live_js[] = {
#embed "../../Clients/JavaScript/src/live.js"
};
static const unsigned char clients_javascript_src_lookup_js[] = {
#embed "../../Clients/JavaScript/src/lookup.js"
};
static const unsigned char clients_javascript_src_outbox_js[] = {
#embed "../../Clients/JavaScript/src/outbox.js"
};
static const unsigned char clients_javascript_src_outcomes_js[] = {
#embed "../../Clients/JavaScript/src/outcomes.js"
};
static const unsigned char clients_javascript_src_profiles_js[] = {
#embed "../../Clients/JavaScript/src/profiles.js"
};
static const unsigned char clients_javascript_src_reads_js[] = {
#embed "../../Clients/JavaScript/src/reads.js"
};
static const unsigned char clients_javascript_src_replica_js[] = {
#embed "../../Clients/JavaScript/src/replica.js"
};
static const unsigned char clients_javascript_src_store_js[] = {
#embed "../../Clients/JavaScript/src/store.js"
};
static const unsigned char clients_javascript_src_tabs_js[] = {
#embed "../../Clients/JavaScript/src/tabs.js"
};
static const unsigned char clients_javascript_src_transport_js[] = {
#embed "../../Clients/JavaScript/src/transport.js"
};
static const unsigned char clients_javascript_src_view_js[] = {
#embed "../../Clients/JavaScript/src/view.js"
};
static const unsigned char examples_films_readme_md[] = {
#embed "../../Examples/films/README.md"
};
static const unsigned char examples_films_larder_yaml[] = {
#embed "../../Examples/films/larder.yaml"
};
static const unsigned char examples_films_operations_changes_graphql[] = {
#embed "../../Examples/films/operations/changes.graphql"
};
static const unsigned char examples_films_operations_film_graphql[] = {
#embed "../../Examples/films/operations/film.graphql"
};
static const unsigned char examples_films_operations_films_graphql[] = {
#embed "../../Examples/films/operations/films.graphql"
};
static const unsigned char examples_films_operations_fragments_graphql[] = {
#embed "../../Examples/films/operations/fragments.graphql"
};
static const unsigned char examples_films_operations_me_graphql[] = {
#embed "../../Examples/films/operations/me.graphql"
};
static const unsigned char examples_films_operations_people_graphql[] = {
#embed "../../Examples/films/operations/people.graphql"
};
static const unsigned char examples_films_operations_search_graphql[] = {
#embed "../../Examples/films/operations/search.graphql"
};
static const unsigned char examples_films_schema_graphql[] = {
#embed "../../Examples/films/schema.graphql"
};
static const unsigned char public_console_base_css[] = {
#embed "../../Public/console/base.css"
};
static const unsigned char public_console_core_chart_js[] = {
#embed "../../Public/console/core/chart.js"
};
static const unsigned char public_console_core_dom_js[] = {
#embed "../../Public/console/core/dom.js"
};
static const unsigned char public_console_core_format_js[] = {
#embed "../../Public/console/core/format.js"
};
static const unsigned char public_console_core_http_js[] = {
#embed "../../Public/console/core/http.js"
};
static const unsigned char public_console_core_json_js[] = {
#embed "../../Public/console/core/json.js"
};
static const unsigned char public_console_core_parts_js[] = {
#embed "../../Public/console/core/parts.js"
};
static const unsigned char public_console_core_schema_js[] = {
#embed "../../Public/console/core/schema.js"
};
static const unsigned char public_console_core_session_js[] = {
#embed "../../Public/console/core/session.js"
};
static const unsigned char public_console_core_stream_js[] = {
#embed "../../Public/console/core/stream.js"
};
static const unsigned char public_console_data_entity_js[] = {
#embed "../../Public/console/data/entity.js"
};
static const unsigned char public_console_data_keys_js[] = {
#embed "../../Public/console/data/keys.js"
};
static const unsigned char public_console_docs_reference_js[] = {
#embed "../../Public/console/docs/reference.js"
};
static const unsigned char public_console_files_keys_js[] = {
#embed "../../Public/console/files/keys.js"
};
static const unsigned char public_console_files_object_js[] = {
#embed "../../Public/console/files/object.js"
};
static const unsigned char public_console_main_js[] = {
#embed "../../Public/console/main.js"
};
static const unsigned char public_console_operations_inputs_js[] = {
#embed "../../Public/console/operations/inputs.js"
};
static const unsigned char public_console_operations_snippets_js[] = {
#embed "../../Public/console/operations/snippets.js"
};
static const unsigned char public_console_operations_try_js[] = {
#embed "../../Public/console/operations/try.js"
};
static const unsigned char public_console_operations_why_js[] = {
#embed "../../Public/console/operations/why.js"
};
static const unsigned char public_console_parts_css[] = {
#embed "../../Public/console/parts.css"
};
static const unsigned char public_console_screens_backup_js[] = {
#embed "../../Public/console/screens/backup.js"
};
static const unsigned char public_console_screens_changes_js[] = {
#embed "../../Public/console/screens/changes.js"
};
static const unsigned char public_console_screens_cluster_js[] = {
#embed "../../Public/console/screens/cluster.js"
};
static const unsigned char public_console_screens_data_js[] = {
#embed "../../Public/console/screens/data.js"
};
static const unsigned char public_console_screens_devices_js[] = {
#embed "../../Public/console/screens/devices.js"
};
static const unsigned char public_console_screens_docs_js[] = {
#embed "../../Public/console/screens/docs.js"
};
static const unsigned char public_console_screens_files_js[] = {
#embed "../../Public/console/screens/files.js"
};
static const unsigned char public_console_screens_hooks_js[] = {
#embed "../../Public/console/screens/hooks.js"
};
static const unsigned char public_console_screens_logs_js[] = {
#embed "../../Public/console/screens/logs.js"
};
static const unsigned char public_console_screens_missing_js[] = {
#embed "../../Public/console/screens/missing.js"
};
static const unsigned char public_console_screens_operations_js[] = {
#embed "../../Public/console/screens/operations.js"
};
static const unsigned char public_console_screens_overview_js[] = {
#embed "../../Public/console/screens/overview.js"
};
static const unsigned char public_console_screens_push_js[] = {
#embed "../../Public/console/screens/push.js"
};
static const unsigned char public_console_screens_search_js[] = {
#embed "../../Public/console/screens/search.js"
};
static const unsigned char public_console_screens_settings_js[] = {
#embed "../../Public/console/screens/settings.js"
};
static const unsigned char public_console_screens_sign_in_js[] = {
#embed "../../Public/console/screens/sign-in.js"
};
static const unsigned char public_console_screens_sql_js[] = {
#embed "../../Public/console/screens/sql.js"
};
static const unsigned char public_console_screens_users_js[] = {
#embed "../../Public/console/screens/users.js"
};
static const unsigned char public_demo_demo_js[] = {
#embed "../../Public/demo/demo.js"
};
static const unsigned char public_demo_index_html[] = {
#embed "../../Public/demo/index.html"
};
static const unsigned char public_demo_style_css[] = {
#embed "../../Public/demo/style.css"
};
static const unsigned char public_demo_sw_js[] = {
#embed "../../Public/demo/sw.js"
};
static const unsigned char public_docs_index_html[] = {
#embed "../../Public/docs/index.html"
};
static const unsigned char public_index_html[] = {
#embed "../../Public/index.html"
};
static const unsigned char demo_words_json[] = {
#embed "demo-words.json"
};
static const unsigned char openapi_yaml[] = {
#embed "openapi.yaml"
};

static const struct larder_resource resources[] = {
  {"Clients/JavaScript/src/diff.js", clients_javascript_src_diff_js, sizeof clients_javascript_src_diff_js},
  {"Clients/JavaScript/src/errors.js", clients_javascript_src_errors_js, sizeof clients_javascript_src_errors_js},
  {"Clients/JavaScript/src/files.js", clients_javascript_src_files_js, sizeof clients_javascript_src_files_js},
  {"Clients/JavaScript/src/filter.js", clients_javascript_src_filter_js, sizeof clients_javascript_src_filter_js},
  {"Clients/JavaScript/src/ids.js", clients_javascript_src_ids_js, sizeof clients_javascript_src_ids_js},
  {"Clients/JavaScript/src/indexeddb.js", clients_javascript_src_indexeddb_js, sizeof clients_javascript_src_indexeddb_js},
  {"Clients/JavaScript/src/json.js", clients_javascript_src_json_js, sizeof clients_javascript_src_json_js},
  {"Clients/JavaScript/src/larder.js", clients_javascript_src_larder_js, sizeof clients_javascript_src_larder_js},
  {"Clients/JavaScript/src/live.js", clients_javascript_src_live_js, sizeof clients_javascript_src_live_js},
  {"Clients/JavaScript/src/lookup.js", clients_javascript_src_lookup_js, sizeof clients_javascript_src_lookup_js},
  {"Clients/JavaScript/src/outbox.js", clients_javascript_src_outbox_js, sizeof clients_javascript_src_outbox_js},
  {"Clients/JavaScript/src/outcomes.js", clients_javascript_src_outcomes_js, sizeof clients_javascript_src_outcomes_js},
  {"Clients/JavaScript/src/profiles.js", clients_javascript_src_profiles_js, sizeof clients_javascript_src_profiles_js},
  {"Clients/JavaScript/src/reads.js", clients_javascript_src_reads_js, sizeof clients_javascript_src_reads_js},
  {"Clients/JavaScript/src/replica.js", clients_javascript_src_replica_js, sizeof clients_javascript_src_replica_js},
  {"Clients/JavaScript/src/store.js", clients_javascript_src_store_js, sizeof clients_javascript_src_store_js},
  {"Clients/JavaScript/src/tabs.js", clients_javascript_src_tabs_js, sizeof clients_javascript_src_tabs_js},
  {"Clients/JavaScript/src/transport.js", clients_javascript_src_transport_js, sizeof clients_javascript_src_transport_js},
  {"Clients/JavaScript/src/view.js", clients_javascript_src_view_js, sizeof clients_javascript_src_view_js},
  {"Examples/films/README.md", examples_films_readme_md, sizeof examples_films_readme_md},
  {"Examples/films/larder.yaml", examples_films_larder_yaml, sizeof examples_films_larder_yaml},
  {"Examples/films/operations/changes.graphql", examples_films_operations_changes_graphql, sizeof examples_films_operations_changes_graphql},
  {"Examples/films/operations/film.graphql", examples_films_operations_film_graphql, sizeof examples_films_operations_film_graphql},
  {"Examples/films/operations/films.graphql", examples_films_operations_films_graphql, sizeof examples_films_operations_films_graphql},
  {"Examples/films/operations/fragments.graphql", examples_films_operations_fragments_graphql, sizeof examples_films_operations_fragments_graphql},
  {"Examples/films/operations/me.graphql", examples_films_operations_me_graphql, sizeof examples_films_operations_me_graphql},
  {"Examples/films/operations/people.graphql", examples_films_operations_people_graphql, sizeof examples_films_operations_people_graphql},
  {"Examples/films/operations/search.graphql", examples_films_operations_search_graphql, sizeof examples_films_operations_search_graphql},
  {"Examples/films/schema.graphql", examples_films_schema_graphql, sizeof examples_films_schema_graphql},
  {"Public/console/base.css", public_console_base_css, sizeof public_console_base_css},
  {"Public/console/core/chart.js", public_console_core_chart_js, sizeof public_console_core_chart_js},
  {"Public/console/core/dom.js", public_console_core_dom_js, sizeof public_console_core_dom_js},
  {"Public/console/core/format.js", public_console_core_format_js, sizeof public_console_core_format_js},
  {"Public/console/core/http.js", public_console_core_http_js, sizeof public_console_core_http_js},
  {"Public/console/core/json.js", public_console_core_json_js, sizeof public_console_core_json_js},
  {"Public/console/core/parts.js", public_console_core_parts_js, sizeof public_console_core_parts_js},
  {"Public/console/core/schema.js", public_console_core_schema_js, sizeof public_console_core_schema_js},
  {"Public/console/core/session.js", public_console_core_session_js, sizeof public_console_core_session_js},
  {"Public/console/core/stream.js", public_console_core_stream_js, sizeof public_console_core_stream_js},
  {"Public/console/data/entity.js", public_console_data_entity_js, sizeof public_console_data_entity_js},
  {"Public/console/data/keys.js", public_console_data_keys_js, sizeof public_console_data_keys_js},
  {"Public/console/docs/reference.js", public_console_docs_reference_js, sizeof public_console_docs_reference_js},
  {"Public/console/files/keys.js", public_console_files_keys_js, sizeof public_console_files_keys_js},
  {"Public/console/files/object.js", public_console_files_object_js, sizeof public_console_files_object_js},
  {"Public/console/main.js", public_console_main_js, sizeof public_console_main_js},
  {"Public/console/operations/inputs.js", public_console_operations_inputs_js, sizeof public_console_operations_inputs_js},
  {"Public/console/operations/snippets.js", public_console_operations_snippets_js, sizeof public_console_operations_snippets_js},
  {"Public/console/operations/try.js", public_console_operations_try_js, sizeof public_console_operations_try_js},
  {"Public/console/operations/why.js", public_console_operations_why_js, sizeof public_console_operations_why_js},
  {"Public/console/parts.css", public_console_parts_css, sizeof public_console_parts_css},
  {"Public/console/screens/backup.js", public_console_screens_backup_js, sizeof public_console_screens_backup_js},
  {"Public/console/screens/changes.js", public_console_screens_changes_js, sizeof public_console_screens_changes_js},
  {"Public/console/screens/cluster.js", public_console_screens_cluster_js, sizeof public_console_screens_cluster_js},
  {"Public/console/screens/data.js", public_console_screens_data_js, sizeof public_console_screens_data_js},
  {"Public/console/screens/devices.js", public_console_screens_devices_js, sizeof public_console_screens_devices_js},
  {"Public/console/screens/docs.js", public_console_screens_docs_js, sizeof public_console_screens_docs_js},
  {"Public/console/screens/files.js", public_console_screens_files_js, sizeof public_console_screens_files_js},
  {"Public/console/screens/hooks.js", public_console_screens_hooks_js, sizeof public_console_screens_hooks_js},
  {"Public/console/screens/logs.js", public_console_screens_logs_js, sizeof public_console_screens_logs_js},
  {"Public/console/screens/missing.js", public_console_screens_missing_js, sizeof public_console_screens_missing_js},
  {"Public/console/screens/operations.js", public_console_screens_operations_js, sizeof public_console_screens_operations_js},
  {"Public/console/screens/overview.js", public_console_screens_overview_js, sizeof public_console_screens_overview_js},
  {"Public/console/screens/push.js", public_console_screens_push_js, sizeof public_console_screens_push_js},
  {"Public/console/screens/search.js", public_console_screens_search_js, sizeof public_console_screens_search_js},
  {"Public/console/screens/settings.js", public_console_screens_settings_js, sizeof public_console_screens_settings_js},
  {"Public/console/screens/sign-in.js", public_console_screens_sign_in_js, sizeof public_console_screens_sign_in_js},
  {"Public/console/screens/sql.js", public_console_screens_sql_js, sizeof public_console_screens_sql_js},
  {"Public/console/screens/users.js", public_console_screens_users_js, sizeof public_console_screens_users_js},
  {"Public/demo/demo.js", public_demo_demo_js, sizeof public_demo_demo_js},
  {"Public/demo/index.html", public_demo_index_html, sizeof public_demo_index_html},
  {"Public/demo/style.css", public_demo_style_css, sizeof public_demo_style_css},
  {"Public/demo/sw.js", public_demo_sw_js, sizeof public_demo_sw_js},
  {"Public/docs/index.html", public_docs_index_html, sizeof public_docs_index_html},
  {"Public/index.html", public_index_html, sizeof public_index_html},
  {"Sources/CResources/demo-words.json", demo_words_json, sizeof demo_words_json},
  {"Sources/CResources/openapi.yaml", openapi_yaml, sizeof openapi_yaml},
};

const struct larder_resource *larder_resource_at(size_t index) {
  return index < sizeof resources / sizeof resources[0] ? &resources[index] : NULL;
}
