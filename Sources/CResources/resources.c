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
  {"Public/demo/demo.js", public_demo_demo_js, sizeof public_demo_demo_js},
  {"Public/demo/index.html", public_demo_index_html, sizeof public_demo_index_html},
  {"Public/demo/style.css", public_demo_style_css, sizeof public_demo_style_css},
  {"Public/demo/sw.js", public_demo_sw_js, sizeof public_demo_sw_js},
  {"Public/index.html", public_index_html, sizeof public_index_html},
  {"Sources/CResources/demo-words.json", demo_words_json, sizeof demo_words_json},
  {"Sources/CResources/openapi.yaml", openapi_yaml, sizeof openapi_yaml},
};

const struct larder_resource *larder_resource_at(size_t index) {
  return index < sizeof resources / sizeof resources[0] ? &resources[index] : NULL;
}
