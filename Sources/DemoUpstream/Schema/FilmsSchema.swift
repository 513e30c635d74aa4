import GraphQL

/// The type system of the demo: the text of `Examples/films/schema.graphql`.
enum FilmsSchema {
  /// Built once. The text is part of the program and sound; its test would tell otherwise.
  static let schema: Schema = {
    let source = Source(name: "films.graphql", body: sdl)
    return Schema.buildRecovering([Parser.parseRecovering(source).document]).schema
  }()

  static let sdl = #"""
    """
    A library of films and series, of the people who made them and of the studios that paid for them.
    """
    schema {
      query: Query
      mutation: Mutation
      subscription: Subscription
    }

    """
    A signed 64-bit whole number, written as a JSON number with all its digits.
    """
    scalar Long

    """
    A decimal number, written as a JSON number that keeps its trailing zeros.
    """
    scalar Decimal

    """
    A calendar day such as `1994-05-12`.
    """
    scalar Date @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc3339#section-5.6")

    """
    A point in time in UTC such as `2024-02-29T08:15:00Z`.
    """
    scalar DateTime @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc3339#section-5.6")

    type Query {
      "One film, null when no film has this id."
      film(id: ID!): Film
      films(filter: FilmFilter, orderBy: [FilmOrder!], limit: Int = 20, offset: Int = 0): [Film!]!
      filmsCount(filter: FilmFilter): Int!
      "The same films as pages of a Relay connection."
      filmsConnection(
        filter: FilmFilter
        orderBy: [FilmOrder!]
        first: Int = 20
        after: String
      ): FilmConnection!
      "The best rated films with enough votes, best first."
      topFilms(genre: Genre, limit: Int = 10): [Film!]!
      person(id: ID!): Person
      people(filter: PersonFilter, limit: Int = 20, offset: Int = 0): [Person!]!
      studio(id: ID!): Studio
      "All studios there are, by name. Never paged."
      studios: [Studio!]!
      series(id: ID!): Series
      allSeries(limit: Int = 20, offset: Int = 0): [Series!]!
      "A film or a series."
      work(id: ID!): Work
      node(id: ID!): Node
      search(text: String!, kinds: [SearchKind!], limit: Int = 20): [SearchResult!]!
      "The user named by the Authorization header, null for anonymous callers."
      me: User
      "The films on the caller's watchlist. Needs a known user."
      watchlist: [Film!]
      list(id: ID!): FilmList
      serverTime: DateTime!
    }

    type Mutation {
      "Sets the caller's stars for a film, 1 to 5. Repeating it has no effect."
      rateFilm(id: ID!, stars: Int!): Film
      createFilm(input: FilmInput!): Film
      updateFilm(id: ID!, patch: FilmPatch!): Film
      "The id of the deleted film, null when there was none."
      deleteFilm(id: ID!): ID
      createPerson(input: PersonInput!): Person
      addToWatchlist(filmId: ID!): User
      removeFromWatchlist(filmId: ID!): User
      "Reports faults in `userErrors` where the other mutations use `errors`."
      createList(input: FilmListInput!): CreateListPayload!
      deleteList(id: ID!): ID
    }

    type Subscription {
      "A film each time it changes, of one film or of all."
      filmChanged(id: ID): Film!
    }

    "Anything with an id."
    interface Node {
      id: ID!
    }

    "What can be watched."
    interface Work implements Node {
      id: ID!
      title: String!
      year: Int!
      synopsis: String
      genres: [Genre!]!
      country: Country!
      rating: Rating!
      poster(size: PosterSize = MEDIUM): Poster
      studio: Studio
      cast(limit: Int = 10, offset: Int = 0): [Person!]!
    }

    type Film implements Node & Work {
      id: ID!
      title: String!
      "The title in the language of its country, if it is different."
      originalTitle: String
      year: Int!
      synopsis: String
      tagline: String
      genres: [Genre!]!
      country: Country!
      runtimeMinutes: Int
      length: Int @deprecated(reason: "Use `runtimeMinutes`.")
      releaseDate: Date
      "The number in the archive's catalogue, past what a double can hold."
      catalogueNumber: Long!
      views: Long!
      boxOffice: Money
      rating: Rating!
      poster(size: PosterSize = MEDIUM): Poster
      director: Person
      cast(limit: Int = 10, offset: Int = 0): [Person!]!
      "Who plays whom, in the order of the opening titles."
      credits(limit: Int = 10): [Credit!]!
      studio: Studio
      similar(limit: Int = 5): [Film!]!
      "The caller's own stars, null for anonymous callers."
      myStars: Int
      updatedAt: DateTime!
    }

    type Series implements Node & Work {
      id: ID!
      title: String!
      year: Int!
      endYear: Int
      synopsis: String
      genres: [Genre!]!
      country: Country!
      seasons: Int!
      episodes: Int!
      rating: Rating!
      poster(size: PosterSize = MEDIUM): Poster
      studio: Studio
      cast(limit: Int = 10, offset: Int = 0): [Person!]!
      updatedAt: DateTime!
    }

    type Person implements Node {
      id: ID!
      name: String!
      "Family name first, for sorting."
      sortName: String!
      nationality: Country
      bornOn: Date
      diedOn: Date
      biography: String
      portrait(size: PosterSize = MEDIUM): Poster
      "Films they play in, newest first."
      films(limit: Int = 20, offset: Int = 0): [Film!]!
      "Films they directed, newest first."
      directed(limit: Int = 20, offset: Int = 0): [Film!]!
      filmCount: Int!
      updatedAt: DateTime!
    }

    type Studio implements Node {
      id: ID!
      name: String!
      country: Country!
      city: String
      foundedIn: Int
      website: String
      films(orderBy: [FilmOrder!], limit: Int = 20, offset: Int = 0): [Film!]!
      filmCount: Int!
      updatedAt: DateTime!
    }

    type User implements Node {
      id: ID!
      name: String!
      memberSince: Date!
      watchlist: [Film!]!
      lists: [FilmList!]!
      rated: [Film!]!
    }

    "A user's own list of films under a name."
    type FilmList implements Node {
      id: ID!
      name: String!
      note: String
      owner: User!
      films: [Film!]!
      createdAt: DateTime!
    }

    union SearchResult = Film | Person | Studio | Series

    type Poster {
      url: String!
      width: Int!
      height: Int!
      alt: String
    }

    type Money {
      amount: Decimal!
      currency: String!
    }

    type Rating {
      "0.00 to 5.00."
      average: Decimal!
      votes: Int!
    }

    type Credit {
      role: String!
      person: Person!
    }

    type FilmConnection {
      edges: [FilmEdge!]!
      pageInfo: PageInfo!
      totalCount: Int!
    }

    type FilmEdge {
      cursor: String!
      node: Film!
    }

    type PageInfo {
      hasNextPage: Boolean!
      hasPreviousPage: Boolean!
      startCursor: String
      endCursor: String
    }

    type CreateListPayload {
      list: FilmList
      userErrors: [UserError!]!
    }

    type UserError {
      "The path of the invalid input."
      path: [String!]!
      message: String!
    }

    enum Genre {
      ADVENTURE
      ANIMATION
      COMEDY
      CRIME
      DOCUMENTARY
      DRAMA
      FANTASY
      HORROR
      MUSICAL
      ROMANCE
      SCIENCE_FICTION
      THRILLER
      WAR
      WESTERN
    }

    "ISO 3166-1 codes of the countries in the library."
    enum Country {
      BR
      CZ
      DE
      DK
      ES
      FR
      GB
      HU
      IE
      IS
      IT
      JP
      MX
      PL
      PT
      SE
      TR
      US
    }

    enum PosterSize {
      SMALL
      MEDIUM
      LARGE
    }

    enum SortDirection {
      ASC
      DESC
    }

    enum FilmOrderField {
      TITLE
      YEAR
      RATING
      VOTES
      RUNTIME
      RELEASE_DATE
      BOX_OFFICE
      UPDATED_AT
    }

    enum SearchKind {
      FILM
      PERSON
      STUDIO
      SERIES
    }

    input FilmOrder {
      field: FilmOrderField!
      direction: SortDirection! = ASC
    }

    "All given conditions must hold."
    input FilmFilter {
      and: [FilmFilter!]
      or: [FilmFilter!]
      not: FilmFilter
      ids: [ID!]
      title: StringFilter
      year: IntFilter
      genre: Genre
      country: Country
      studioId: ID
      directorId: ID
      minStars: Float
      updatedSince: DateTime
    }

    input PersonFilter {
      name: StringFilter
      nationality: Country
      bornIn: IntFilter
    }

    input IntFilter {
      eq: Int
      gt: Int
      gte: Int
      lt: Int
      lte: Int
      in: [Int!]
    }

    "Compares without regard to case."
    input StringFilter {
      eq: String
      contains: String
      startsWith: String
    }

    input FilmInput {
      title: String!
      originalTitle: String
      year: Int!
      synopsis: String
      tagline: String
      genres: [Genre!]! = [DRAMA]
      country: Country!
      runtimeMinutes: Int
      releaseDate: Date
      boxOffice: MoneyInput
      directorId: ID
      studioId: ID
      castIds: [ID!]
    }

    "Absent fields stay, null fields are cleared."
    input FilmPatch {
      title: String
      synopsis: String
      tagline: String
      year: Int
      genres: [Genre!]
      runtimeMinutes: Int
      releaseDate: Date
      boxOffice: MoneyInput
      directorId: ID
      studioId: ID
    }

    input MoneyInput {
      amount: Decimal!
      currency: String! = "EUR"
    }

    input PersonInput {
      name: String!
      nationality: Country
      bornOn: Date
      biography: String
    }

    input FilmListInput {
      name: String!
      note: String
      filmIds: [ID!]! = []
    }
    """# + "\n"
}
