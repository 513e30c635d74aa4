#include "cresources.h"

// Binary inclusion (C23, 6.10.4). A test compares this list with the folders.
#pragma clang diagnostic ignored "-Wc23-extensions"

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
  {"Public/index.html", public_index_html, sizeof public_index_html},
  {"Sources/CResources/demo-words.json", demo_words_json, sizeof demo_words_json},
  {"Sources/CResources/openapi.yaml", openapi_yaml, sizeof openapi_yaml},
};

const struct larder_resource *larder_resource_at(size_t index) {
  return index < sizeof resources / sizeof resources[0] ? &resources[index] : NULL;
}
