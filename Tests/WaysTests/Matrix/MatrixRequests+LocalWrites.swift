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
      }
    },
  ]
}
