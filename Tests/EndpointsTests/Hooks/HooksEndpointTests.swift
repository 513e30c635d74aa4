import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Testing

@testable import Endpoints

/// `POST /v1/hooks/{name}` as senders see it: statuses, codes, media types, sizes and credentials.
struct HooksEndpointTests {
  private static let update = #"{"updates":[{"__typename":"Film","id":"f1","title":"One"}]}"#
  private static let secret = ("webhook-secret", HookSite.secret)

  private static func event(_ id: String = "e1", title: String = "One") -> String {
    #"{"id":"\#(id)","table":{"schema":"public","name":"film"},"event":{"op":"INSERT","#
      + #""data":{"old":null,"new":{"film_id":"f1","title":"\#(title)"}}}}"#
  }

  @Test("The routes are those that the service serves")
  func routes() {
    #expect(
      HookRoutes.lines.map { "\($0.method.name) \($0.pattern)" } == [
        "POST /v1/hooks/{name}", "GET /v1/admin/hooks",
      ])
  }

  @Test("A stored message is answered with what became of it")
  func appliesMessages() async throws {
    let site = try HookSite()
    let plain = try await site.post(
      "/v1/hooks/cms", site.signature(of: Self.update), Self.update,
      type: "Application/JSON; charset=utf-8")
    #expect(plain.status == 200 && plain.fields[.contentType] == "application/json")
    #expect(plain.fields[.cacheControl] == "no-store")
    #expect(
      plain.body == ["status": "applied", "written": 1, "deleted": 0, "outdated": 0, "due": 0])
    #expect(try await site.film("f1")?["title"] == "One")
    let row = try await site.post("/v1/hooks/films", [Self.secret], Self.event(title: "Two"))
    #expect(row.status == 200 && row.body["status"] == "applied", "\(row.body.text)")
    #expect(try await site.film("f1")?["title"] == "Two")
    let gone = #"{"deletes":["Film:f1"]}"#
    let deleted = try await site.post("/v1/hooks/cms", site.signature(of: gone, id: "m2"), gone)
    #expect(deleted.body["deleted"] == 1, "\(deleted.body.text)")
    #expect(try await site.film("f1") == nil)
    let other = Self.event("e2").replacing(#""film""#, with: #""other""#)
    let ignored = try await site.post("/v1/hooks/films", [Self.secret], other)
    #expect(ignored.status == 200 && ignored.body["status"] == "ignored")
    #expect(ignored.body["detail"] == "hooks.in.films.tables does not name other")
  }

  @Test("A message that comes again is 200 and changes nothing, whatever its body says")
  func replaysAreIgnored() async throws {
    let site = try HookSite()
    let headers = site.signature(of: Self.update)
    #expect(try await site.post("/v1/hooks/cms", headers, Self.update).body["status"] == "applied")
    // The same bytes, and another body that the sender signed under the same id.
    let other = Self.update.replacing("One", with: "Other")
    for (headers, body) in [(headers, Self.update), (site.signature(of: other), other)] {
      let again = try await site.post("/v1/hooks/cms", headers, body)
      #expect(again.status == 200 && again.body == ["status": "repeated"], "\(again.body.text)")
    }
    for title in ["One", "Other"] {
      _ = try await site.post("/v1/hooks/films", [Self.secret], Self.event(title: title))
    }
    #expect(try await site.film("f1")?["title"] == "One")
    // Recorded by a stranger, and sent when the id could have been forgotten.
    site.clock.advance(by: .seconds(301))
    let late = try await site.post("/v1/hooks/cms", headers, Self.update)
    #expect(late.status == 401 && late.code == "webhook_expired")
  }

  @Test("A wrong, missing or repeated secret is refused")
  func secretsMustMatch() async throws {
    let site = try HookSite()
    let name = "webhook-secret"
    for fields in [
      [], [(name, "")], [(name, "wrong")], [(name, HookSite.secret + "0")],
      [(name, String(HookSite.secret.dropLast()))], [(name, HookSite.secret.uppercased())],
      [Self.secret, Self.secret], [Self.secret, (name, "wrong")],
      [("authorization", "Bearer \(HookSite.secret)")],
      [("authorization", "Bearer \(HookSite.adminToken)")],
    ] as [[(String, String)]] {
      let refused = try await site.post("/v1/hooks/films", fields, Self.event())
      #expect(refused.status == 401 && refused.code == "webhook_unauthenticated", "\(fields)")
      #expect(refused.fields[.wwwAuthenticate] == #"Webhook realm="larder""#)
      #expect(refused.fields[.contentType] == "application/problem+json")
      #expect(!refused.body.text.contains(HookSite.secret))
    }
    #expect(try await site.film("f1") == nil)
  }

  @Test("Forged, changed, late and early messages are refused and store nothing")
  func signaturesMustBeValid() async throws {
    let site = try HookSite()
    let good = site.signature(of: Self.update)
    func with(_ name: String, _ value: String?) -> [(String, String)] {
      good.compactMap { field in
        guard field.0 == name else { return field }
        return value.map { (name, $0) }
      }
    }
    let unauthenticated = "webhook_unauthenticated"
    for (fields, body, code) in [
      // Of another key, body, id and time.
      (
        site.signature(of: Self.update, key: Array(repeating: 8, count: 32)), Self.update,
        unauthenticated
      ),
      (good, Self.update + " ", unauthenticated),
      (good, Self.update.replacing("One", with: "Two"), unauthenticated),
      (with("webhook-id", "m2"), Self.update, unauthenticated),
      (
        with("webhook-timestamp", site.signature(of: "", ago: .seconds(1))[1].1), Self.update,
        unauthenticated
      ),
      // Nothing that could be a signature.
      (with("webhook-signature", "v1,"), Self.update, unauthenticated),
      (with("webhook-signature", "v1,AAAA"), Self.update, unauthenticated),
      (
        with("webhook-signature", good[2].1.replacing("v1,", with: "v1a,")), Self.update,
        unauthenticated
      ),
      (with("webhook-timestamp", "soon"), Self.update, unauthenticated),
      (with("webhook-timestamp", "-1"), Self.update, unauthenticated),
      (with("webhook-id", ""), Self.update, unauthenticated),
      // Missing, and twice.
      (with("webhook-id", nil), Self.update, unauthenticated),
      (with("webhook-timestamp", nil), Self.update, unauthenticated),
      (with("webhook-signature", nil), Self.update, unauthenticated),
      (good + [good[0]], Self.update, unauthenticated),
      (good + [good[1]], Self.update, unauthenticated),
      (good + [good[2]], Self.update, unauthenticated),
      // The credential of the other format.
      ([Self.secret], Self.update, unauthenticated),
      // Validly signed, at another time.
      (site.signature(of: Self.update, ago: .seconds(301)), Self.update, "webhook_expired"),
      (site.signature(of: Self.update, ago: .seconds(-301)), Self.update, "webhook_expired"),
    ] as [([(String, String)], String, String)] {
      let refused = try await site.post("/v1/hooks/cms", fields, body)
      #expect(refused.status == 401 && refused.code == code, "\(fields): \(refused.body.text)")
      #expect(refused.fields[.wwwAuthenticate] == #"Webhook realm="larder""#)
    }
    #expect(try await site.film("f1") == nil)
    // None of them has used up the id.
    for ago in [-300, 300] {
      let body = Self.update.replacing("One", with: "\(ago)")
      let valid = try await site.post(
        "/v1/hooks/cms", site.signature(of: body, id: "m\(ago)", ago: .seconds(ago)), body)
      #expect(valid.body["status"] == "applied", "\(valid.body.text)")
    }
    #expect(try await site.post("/v1/hooks/cms", good, Self.update).body["status"] != "repeated")
  }

  @Test("The content of a stranger's request is not read")
  func strangersAreNotRead() async throws {
    let site = try HookSite()
    let long = String(repeating: "x", count: HookSite.bodyBytesMax * 2)
    for (target, fields) in [
      ("/v1/hooks/none", [Self.secret]), ("/v1/hooks/films", []),
      ("/v1/hooks/cms", site.signature(of: long, ago: .seconds(400))),
    ] as [(String, [(String, String)])] {
      let request = try HookSite.request(target, fields, long)
      let refused = try await site.send(request)
      #expect([401, 404].contains(refused.status), "\(target)")
      #expect(try await request.body.collect(upTo: .max).count == long.utf8.count, "\(target)")
    }
  }

  @Test("An unknown name is 404, whatever the credentials")
  func unknownNames() async throws {
    let site = try HookSite()
    for name in ["none", "Films", "films%20", "cms.", "%66ilm"] {
      for fields in [[Self.secret], site.signature(of: Self.update), []] {
        let missing = try await site.post("/v1/hooks/\(name)", fields, Self.update)
        #expect(missing.status == 404 && missing.code == "not_found", "\(name)")
      }
    }
  }

  @Test(
    "Other methods are refused and name the one that is served",
    arguments: ["GET", "PUT", "DELETE"])
  func otherMethods(method: String) async throws {
    let site = try HookSite()
    let refused = try await site.send(request(method, "/v1/hooks/films", Self.secret))
    #expect(refused.status == 405 && refused.code == "method_not_allowed")
    #expect(refused.fields[.allow] == "OPTIONS, POST" || refused.fields[.allow] == "POST, OPTIONS")
  }

  @Test(
    "Only JSON is read, so that no page can post a message without a preflight",
    arguments: [
      "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "",
      "application/jsonx",
      "application/merge-patch+json", "text/plain; application/json",
    ])
  func mediaTypes(type: String) async throws {
    let site = try HookSite()
    for (target, fields, body) in [
      ("/v1/hooks/films", [Self.secret], Self.event()),
      ("/v1/hooks/cms", site.signature(of: Self.update), Self.update),
    ] {
      let refused = try await site.post(target, fields, body, type: type)
      #expect(refused.status == 415 && refused.code == "unsupported_media_type", "\(target)")
      #expect(refused.fields[.accept] == "application/json")
    }
    #expect(try await site.film("f1") == nil)
  }

  @Test("A body of the limit's size is read, and one of a byte more refused")
  func sizes() async throws {
    let site = try HookSite()
    let space = HookSite.bodyBytesMax - Self.update.utf8.count
    let longest = Self.update + String(repeating: " ", count: space)
    let read = try await site.post("/v1/hooks/cms", site.signature(of: longest), longest)
    #expect(read.body["status"] == "applied", "\(read.body.text)")
    let tooLong = longest + " "
    let refused = try await site.post(
      "/v1/hooks/cms", site.signature(of: tooLong, id: "m2"), tooLong)
    #expect(refused.status == 413 && refused.code == "body_too_large")
    #expect(
      refused.body["detail"]?.string
        == "The body exceeds the limit of \(HookSite.bodyBytesMax) bytes.")
  }

  @Test("Bodies that do not fit are problem documents that name every fault")
  func invalidBodies() async throws {
    let site = try HookSite()
    for text in ["", "{", "[]", "7", "null", #"{"id":1,"id":2}"#] {
      for (target, fields) in [
        ("/v1/hooks/films", [Self.secret]), ("/v1/hooks/cms", site.signature(of: text)),
      ] {
        let refused = try await site.post(target, fields, text)
        #expect(refused.status == 400 && refused.code == "malformed_request", "\(target) \(text)")
      }
    }
    let event = try await site.post("/v1/hooks/films", [Self.secret], "{}")
    #expect(event.status == 422 && event.code == "invalid_webhook")
    #expect(Self.pointers(event.body) == ["/id", "/table/name", "/event/op"])
    let body = #"{"updates":[{"__typename":"Film","id":"f1","titel":"x","year":"x"}],"more":1}"#
    let plain = try await site.post("/v1/hooks/cms", site.signature(of: body), body)
    #expect(
      plain.status == 422 && plain.code == "invalid_webhook" && plain.body["retry"] == "never")
    #expect(Self.pointers(plain.body) == ["/more", "/updates/0/titel", "/updates/0/year"])
    #expect(plain.body["instance"] == "/v1/hooks/cms" && plain.body["requestId"] == "r-1")
    #expect(try await site.film("f1") == nil)
    // The sender mends the message and sends it under the same id.
    let mended = try await site.post("/v1/hooks/cms", site.signature(of: Self.update), Self.update)
    #expect(mended.body["status"] == "applied")
  }

  private static func pointers(_ problem: JSONValue) -> [String] {
    problem["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? []
  }

  @Test("The list is for operators, counts what came, and shows no secret")
  func lists() async throws {
    let site = try HookSite()
    _ = try await site.post("/v1/hooks/films", [Self.secret], Self.event())
    _ = try await site.post("/v1/hooks/films", [Self.secret], Self.event())
    _ = try await site.post("/v1/hooks/films", [("webhook-secret", "guess")], Self.event())
    _ = try await site.post("/v1/hooks/films", [Self.secret], "{}")
    _ = try await site.post("/v1/hooks/films", [Self.secret], Self.event(), type: "text/plain")
    for fields in [[], [Self.secret], [("authorization", "Bearer \(HookSite.secret)")]] {
      let refused = try await site.send(
        ServerRequest(head: try head("GET", "/v1/admin/hooks", fields), id: "r-1"))
      #expect(refused.status == 401, "\(fields): \(refused.body.text)")
    }
    let list = try await site.send(
      request("GET", "/v1/admin/hooks", ("authorization", "Bearer \(HookSite.adminToken)")))
    #expect(list.status == 200)
    let items = list.body["items"]?.array ?? []
    #expect(items.compactMap { $0["name"]?.string } == ["cms", "films"])
    #expect(items.last?["tables"] == ["film": "Film"])
    let messages = items.last?["messages"]
    #expect(
      messages?["applied"] == 1 && messages?["repeated"] == 1 && messages?["refused"] == 1
        && messages?["invalid"] == 2, "\(list.body.text)")
    #expect(items.last?["lastRefusal"]?["code"] == "unsupported_media_type")
    for hidden in [HookSite.secret, "guess"] { #expect(!list.body.text.contains(hidden)) }
    let without = try HookSite(hasAdmin: false)
    let off = try await without.send(
      request("GET", "/v1/admin/hooks", ("authorization", "Bearer \(HookSite.adminToken)")))
    #expect(off.status == 404 && off.code == "admin_off")
  }
}
