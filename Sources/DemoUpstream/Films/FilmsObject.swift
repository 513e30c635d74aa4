/// An object of the film schema, passed from a field to its sub-selections.
indirect enum FilmsObject: Sendable {
  case query
  case mutation
  case film(Film)
  case series(Series)
  case person(Person)
  case studio(Studio)
  case user(User)
  case list(FilmList)
  case poster(Poster)
  case money(Film.Money)
  case rating(Rating)
  case credit(Film.Credit)
  case connection(FilmPage)
  case edge(Film)
  case pageInfo(FilmPage)
  case createdList(FilmList?, faults: [InputFault])
  case userError(InputFault)

  var typeName: String {
    switch self {
    case .query: "Query"
    case .mutation: "Mutation"
    case .film: "Film"
    case .series: "Series"
    case .person: "Person"
    case .studio: "Studio"
    case .user: "User"
    case .list: "FilmList"
    case .poster: "Poster"
    case .money: "Money"
    case .rating: "Rating"
    case .credit: "Credit"
    case .connection: "FilmConnection"
    case .edge: "FilmEdge"
    case .pageInfo: "PageInfo"
    case .createdList: "CreateListPayload"
    case .userError: "UserError"
    }
  }
}
