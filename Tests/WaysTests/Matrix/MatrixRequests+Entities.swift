extension MatrixRequests {
  private static let types = ["User", "FilmList", "Film", "Note", "Notebook", "Named", "Wish"]

  private static func lists(_ secrets: MatrixSecrets) -> [String] {
    ["User/\(secrets.userID)/lists", "Notebook/\(secrets.bookID)/notes"]
  }

  /// Diffs from each list whose tag the owner could have.
  private static func diffs(_ target: String, _ secrets: MatrixSecrets) -> [MatrixAsk] {
    let tags = secrets.tags.map { String($0.dropFirst().dropLast()) } + [secrets.listTag]
    return tags.map { .get("\(target)?from=\(quoted($0))") }
  }

  private static func have(_ target: String, _ secrets: MatrixSecrets) -> MatrixAsk {
    MatrixAsk(
      "POST", target,
      body: """
        {"have":[["User/\(secrets.userID)","\(secrets.revision)"],
         ["Note/\(secrets.noteID)","\(secrets.revision)"],
         ["FilmList/\(secrets.listID)","\(secrets.revision)"]]}
        """)
  }

  static let entities: [String: Make] = [
    "GET /v1/entities": { read("/v1/entities", $0) },
    "GET /v1/entities/{type}": { secrets in
      types.flatMap { type in
        read("/v1/entities/\(type)?total=true", secrets) + [
          MatrixAsk("HEAD", "/v1/entities/\(type)"),
          .get("/v1/entities/\(type)?filter=id%20LIKE%20%3F&arg=%25\(secrets.word)%25&total=true"),
          .get("/v1/entities/\(type)?order=id&section=id&limit=1000"),
        ]
      } + [
        .get("/v1/entities/User?order=name&section=name&filter=name%20%3E%20%3F&arg=a"),
        .get("/v1/entities/FilmList?filter=note%20%3D%20%3F&arg=Note%20of%20\(secrets.word)"),
        .get("/v1/entities/Film?filter=myStars%20IS%20NOT%20NULL&total=true"),
        .get("/v1/entities/Film?order=-myStars&section=myStars&limit=1000"),
        .get("/v1/entities/Note?order=text&section=text&total=true"),
        .get("/v1/entities/Film?filter=mark%20LIKE%20%3F&arg=%25\(secrets.word)%25&total=true"),
        .get("/v1/entities/Film?filter=remark%20%3D%20%3F&arg=Remark%20of%20\(secrets.word)"),
        .get("/v1/entities/Film?order=-mark,remark&section=mark&limit=1000"),
        .get("/v1/entities/Film?view=Mark&limit=1000"),
        .get("/v1/entities/Named?order=name&filter=name%20LIKE%20%3F&arg=%25\(secrets.word)%25"),
        .get(
          "/v1/entities/Note?filter=film.mark%20LIKE%20%3F&arg=%25\(secrets.word)%25&total=true"),
        .get(
          "/v1/entities/Note?filter=book.name%20LIKE%20%3F&arg=%25\(secrets.word)%25&total=true"),
        .get("/v1/entities/\(secrets.word)"),
        .get("/v1/entities/User?include=lists,watchlist(limit:100)"),
        .get("/v1/entities/Note?include=book.notes(limit:100),film"),
        .get("/v1/entities/Notebook?include=notes(limit:100,order:text).film"),
        .get("/v1/entities/Film?include=\(secrets.word)"),
      ]
        + (secrets.pageToken.map {
          [.get("/v1/entities/Note?limit=1&order=text&after=\($0)", comparison: .words)]
        } ?? [])
    },
    "GET /v1/entities/{type}/{id}": { secrets in
      [
        "User/\(secrets.userID)", "FilmList/\(secrets.listID)", "Note/\(secrets.noteID)",
        "Notebook/\(secrets.bookID)", "Wish/\(secrets.wishID)", "Film/f1",
      ].flatMap { read("/v1/entities/\($0)", secrets) } + [
        MatrixAsk("HEAD", "/v1/entities/Note/\(secrets.noteID)"),
        .get("/v1/entities/Film/f1?view=Mark"),
        .get("/v1/entities/Named/\(secrets.bookID)"),
        .get("/v1/entities/User/\(secrets.userID)?include=lists,watchlist"),
        .get("/v1/entities/Note/\(secrets.noteID)?include=book.notes,film"),
        .get("/v1/entities/Notebook/\(secrets.bookID)?include=notes.book"),
        .get("/v1/entities/User/\(secrets.userID)", ("If-Match", secrets.tags.first ?? "*")),
      ]
    },
    "GET /v1/entities/{type}/{id}/{relationship}": { secrets in
      [
        "User/\(secrets.userID)/lists", "User/\(secrets.userID)/watchlist?total=true",
        "Note/\(secrets.noteID)/book", "Note/\(secrets.noteID)/film",
        "Notebook/\(secrets.bookID)/notes?total=true",
      ].flatMap { read("/v1/entities/\($0)", secrets) }
    },
    "GET /v1/entities/{type}/diff": { secrets in
      types.flatMap { type in diffs("/v1/entities/\(type)/diff", secrets) }
    },
    "POST /v1/entities/{type}/diff": { secrets in
      types.map { type in have("/v1/entities/\(type)/diff", secrets) }
    },
    "GET /v1/entities/{type}/{id}/{relationship}/diff": { secrets in
      lists(secrets).flatMap { list in diffs("/v1/entities/\(list)/diff", secrets) }
    },
    "POST /v1/entities/{type}/{id}/{relationship}/diff": { secrets in
      lists(secrets).map { list in have("/v1/entities/\(list)/diff", secrets) }
    },
    "GET /v1/search": { secrets in
      [
        secrets.word, "\(secrets.word.dropLast(2))*", "%22of%20\(secrets.word)%22", "of", "list",
        "note", "the*",
      ].flatMap { words in
        [
          .get("/v1/search?q=\(words)&limit=100"),
          .get("/v1/search?q=\(words)&types=User,FilmList"),
        ]
      } + read("/v1/search?q=\(secrets.word)", secrets)
    },
  ]
}

extension MatrixRequests {
  private static func write(
    _ method: String, _ target: String, _ body: String? = nil, match: String? = nil
  ) -> MatrixAsk {
    MatrixAsk(
      method, target, headers: match.map { [("If-Match", "\"\($0)\"")] } ?? [], body: body)
  }

  static let localWrites: [String: Make] = [
    "POST /v1/entities": { secrets in
      [
        #"[{"op":"update","type":"Note","id":"\#(secrets.noteID)","data":{"text":"x"}}]"#,
        #"[{"op":"delete","type":"Notebook","id":"\#(secrets.bookID)"}]"#,
        """
        [{"op":"insert","type":"Note","id":"mine-\(secrets.word)","data":{"text":"x"}},
         {"op":"delete","type":"Note","id":"mine-\(secrets.word)"}]
        """,
      ].map { write("POST", "/v1/entities", $0) }
    },
    "POST /v1/entities/{type}": { secrets in
      [
        write(
          "POST", "/v1/entities/Note",
          #"{"id":"\#(secrets.noteID)","text":"x","book":"\#(secrets.bookID)"}"#),
        write(
          "POST", "/v1/entities/Notebook",
          #"{"id":"\#(secrets.bookID)","name":"x","notes":["\#(secrets.noteID)"]}"#),
        write("POST", "/v1/entities/Note", #"{"id":"\#(secrets.noteID)","text":"x"}"#),
        write("POST", "/v1/entities/User", #"{"id":"\#(secrets.userID)"}"#),
        write("POST", "/v1/entities/Wish", #"{"id":"\#(secrets.wishID)","text":"x"}"#),
      ]
    },
    "PUT /v1/entities/{type}/{id}": { secrets in
      [
        write(
          "PUT", "/v1/entities/Note/\(secrets.noteID)", #"{"text":"x"}"#, match: secrets.revision),
        write("PUT", "/v1/entities/Note/\(secrets.noteID)", #"{"text":"x"}"#),
        write("PUT", "/v1/entities/Notebook/\(secrets.bookID)", #"{"name":"x"}"#),
        write(
          "PUT", "/v1/entities/Wish/\(secrets.wishID)", #"{"text":"x"}"#, match: secrets.revision),
        write("PUT", "/v1/entities/Wish/\(secrets.wishID)", #"{"text":"x"}"#),
        write("PUT", "/v1/entities/User/\(secrets.userID)", #"{"name":"x"}"#),
      ]
    },
    "PATCH /v1/entities/{type}/{id}": { secrets in
      [
        write(
          "PATCH", "/v1/entities/Note/\(secrets.noteID)", #"{"text":"y"}"#,
          match: secrets.revision),
        write("PATCH", "/v1/entities/Note/\(secrets.noteID)", #"{"book":"\#(secrets.bookID)"}"#),
        write("PATCH", "/v1/entities/FilmList/\(secrets.listID)", #"{"name":"x"}"#),
      ]
    },
    "DELETE /v1/entities/{type}/{id}": { secrets in
      [
        write("DELETE", "/v1/entities/Note/\(secrets.noteID)", match: secrets.revision),
        write("DELETE", "/v1/entities/Notebook/\(secrets.bookID)"),
        write("DELETE", "/v1/entities/Note/\(secrets.noteID)"),
        write("DELETE", "/v1/entities/Notebook/\(secrets.bookID)"),
        write("DELETE", "/v1/entities/Wish/\(secrets.wishID)"),
        write("DELETE", "/v1/entities/User/\(secrets.userID)"),
      ]
    },
    "PATCH /v1/entities/{type}": { secrets in
      [
        write(
          "PATCH", "/v1/entities/Note?filter=text%20LIKE%20%3F&arg=%25\(secrets.word)%25",
          #"{"text":"x"}"#)
      ]
    },
    "DELETE /v1/entities/{type}": { secrets in
      ["Note", "Notebook", "User"].map {
        write("DELETE", "/v1/entities/\($0)?filter=id%20LIKE%20%3F&arg=%25\(secrets.word)%25")
      } + [write("DELETE", "/v1/entities/User?all=true")]
    },
  ]
}
