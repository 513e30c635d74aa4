/// All the demo knows: a value, so that a query reads one state while mutations make the next.
struct Library: Sendable {
  private(set) var films = Table<Film>()
  private(set) var series = Table<Series>()
  private(set) var people = Table<Person>()
  private(set) var studios = Table<Studio>()
  private(set) var users = Table<User>()
  private(set) var lists = Table<FilmList>()

  /// The other direction of a film's references, kept by every change of a film. Ids in the order
  /// the films came.
  private var filmsByPerson: [String: [String]] = [:]
  private var filmsByDirector: [String: [String]] = [:]
  private var filmsByStudio: [String: [String]] = [:]
  private var numberLast: [String: Int] = [:]

  /// The next id with this letter in front: `f1`, `f2`, … An id is never given twice.
  mutating func makeID(_ letter: String) -> String {
    let number = (numberLast[letter] ?? 0) + 1
    numberLast[letter] = number
    return letter + String(number)
  }

  func filmIDs(withPerson id: String) -> [String] { filmsByPerson[id] ?? [] }
  func filmIDs(directedBy id: String) -> [String] { filmsByDirector[id] ?? [] }
  func filmIDs(ofStudio id: String) -> [String] { filmsByStudio[id] ?? [] }
}

extension Library {
  mutating func put(_ film: Film) {
    if let former = films[film.id] { unlink(former) }
    films[film.id] = film
    link(film)
  }

  /// Takes a film out of the library, of every list and of every watchlist.
  mutating func removeFilm(_ id: String) {
    guard let film = films[id] else { return }
    unlink(film)
    films[id] = nil
    for var user in Array(users.rows) where user.watchlist.contains(id) || user.stars[id] != nil {
      user.watchlist.removeAll { $0 == id }
      user.stars[id] = nil
      users[user.id] = user
    }
    for var list in Array(lists.rows) where list.filmIDs.contains(id) {
      list.filmIDs.removeAll { $0 == id }
      lists[list.id] = list
    }
  }

  mutating func put(_ row: Series) { series[row.id] = row }
  mutating func put(_ row: Person) { people[row.id] = row }
  mutating func put(_ row: Studio) { studios[row.id] = row }
  mutating func put(_ row: User) { users[row.id] = row }
  mutating func put(_ row: FilmList) { lists[row.id] = row }
  mutating func removeList(_ id: String) { lists[id] = nil }

  private mutating func link(_ film: Film) {
    for credit in film.credits { filmsByPerson[credit.personID, default: []].append(film.id) }
    if let id = film.directorID { filmsByDirector[id, default: []].append(film.id) }
    if let id = film.studioID { filmsByStudio[id, default: []].append(film.id) }
  }

  private mutating func unlink(_ film: Film) {
    for credit in film.credits { filmsByPerson[credit.personID]?.removeAll { $0 == film.id } }
    if let id = film.directorID { filmsByDirector[id]?.removeAll { $0 == film.id } }
    if let id = film.studioID { filmsByStudio[id]?.removeAll { $0 == film.id } }
  }
}

/// A thing of the library that is found by its id.
protocol Row: Sendable {
  var id: String { get }
}

/// Rows in insertion order, indexed by id.
struct Table<Element: Row>: Sendable {
  /// A removed row leaves its place empty, so that places in the index stay true.
  private var slots: [Element?] = []
  private var placeByID: [String: Int] = [:]

  var count: Int { placeByID.count }
  var rows: some Sequence<Element> { slots.lazy.compactMap { $0 } }

  /// Setting a row replaces the one with its id, appends it, or (nil) removes it.
  subscript(id: String) -> Element? {
    get { placeByID[id].flatMap { slots[$0] } }
    set {
      switch (placeByID[id], newValue) {
      case (let place?, let row?): slots[place] = row
      case (nil, let row?):
        placeByID[id] = slots.count
        slots.append(row)
      case (let place?, nil):
        slots[place] = nil
        placeByID[id] = nil
      case (nil, nil): return
      }
    }
  }
}
