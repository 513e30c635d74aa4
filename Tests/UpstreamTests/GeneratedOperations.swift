/// Operations for tests that need many of them.
enum GeneratedOperations {
  /// Every kind of position the sample schema has.
  static let handWritten = #"""
    query Everything($id: ID!, $x: Boolean = true) {
      film(id: $id) { ...Card cast(first: 2) { edges { role node { name } } pageInfo { endCursor } } }
      films(first: 3) { edges { cursor node { ...Card } } totalCount }
      topFilms { title related { ... on Film { year } ... on Person { born } ... on Stats { ratio } } }
      allGenres { label }
      search(text: "x") { __typename ... on Node { id } ... on Person { name @include(if: $x) } }
      node(id: $id) { ... on Person { films { tags } } }
      version
      stats { films }
    }
    query Merged { film(id: 1) { director { name } ...Directed } a: film(id: 2) { id director { id } } }
    fragment Directed on Film { director { born films { id notes } } }
    fragment Card on Film { title(lang: "de") year poster(size: LARGE) { url artist { name } } genres { label code } }
    mutation Rate($id: ID!) { rateFilm(id: $id, stars: 5) { rating director { name } } }
    subscription Changed($id: ID!) { filmChanged(id: $id) { ...Card } }
    """#
}
