/// The requests to streams of lists, and to live streams of many subjects.
extension MatrixRequests {
  private static func streams(_ target: String, _ secrets: MatrixSecrets) -> [MatrixAsk] {
    let tags = secrets.tags.prefix(1) + ["\"\(secrets.listTag)\""]
    return [.stream(target)] + tags.map { .stream(target, ("Last-Event-ID", $0)) }
  }

  static let live: [String: Make] = [
    "GET /v1/entities/{type}/stream": { secrets in
      ["User", "FilmList", "Note", "Notebook", "Wish"].flatMap { type in
        streams("/v1/entities/\(type)/stream?total=true", secrets) + [
          .stream("/v1/entities/\(type)/stream?filter=id%20LIKE%20%3F&arg=%25\(secrets.word)%25"),
          .stream("/v1/entities/\(type)/stream?ticket=\(secrets.word)"),
        ]
      } + [.stream("/v1/entities/Notebook/stream?include=notes(limit:100).book")]
    },
    "GET /v1/entities/{type}/{id}/stream": { secrets in
      [
        "User/\(secrets.userID)", "FilmList/\(secrets.listID)", "Note/\(secrets.noteID)",
        "Notebook/\(secrets.bookID)", "Wish/\(secrets.wishID)",
      ].flatMap { streams("/v1/entities/\($0)/stream", secrets) }
    },
    "GET /v1/entities/{type}/{id}/{relationship}/stream": { secrets in
      [
        "User/\(secrets.userID)/lists", "User/\(secrets.userID)/watchlist",
        "Note/\(secrets.noteID)/book", "Notebook/\(secrets.bookID)/notes",
      ].flatMap { streams("/v1/entities/\($0)/stream", secrets) }
    },
    "POST /v1/live": { secrets in
      [
        .live(#""operation":"Me""#),
        .live(#""operation":"MyFilm","variables":{"id":"f1"}"#),
        .live(#""changes":{"since":"\#(secrets.cursor)"}"#),
        .live(#""changes":{"types":["User","Note","FilmList"]}"#),
        .live(#""collection":"/v1/entities/Note?total=true""#),
        .live(#""collection":"/v1/entities/Note/\#(secrets.noteID)""#),
        .live(#""collection":"/v1/entities/User/\#(secrets.userID)/lists""#),
        .live(
          #""collection":"/v1/entities/Wish","from":"\#(secrets.listTag)""#,
          ("Last-Event-ID", secrets.listTag)),
      ]
    },
    "PATCH /v1/live/{streamId}": { secrets in
      [
        MatrixAsk(
          "PATCH", "/v1/live/s_\(secrets.word)",
          body: #"{"add":[{"id":"\#(secrets.word)","operation":"Me"}],"remove":["a"]}"#)
      ]
    },
  ]
}
