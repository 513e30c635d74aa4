import Foundation
import HTTPWire
import LosslessJSON
import Model
import S3Wire
import TestSupport
import Testing

extension Ways {
  /// Uploads by HTML forms, allowed by a signed policy.
  struct S3FormTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
          plain:
            access: admin
      """
    private static let boundary = "x-form-boundary"

    private static func date(_ seconds: Int64 = 0) -> HTTPDate {
      HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970) + seconds)
    }

    /// A form as a browser sends it: the fields, then the file.
    private static func form(
      _ fields: [(String, String)], file: String = "hello", filename: String = "a.txt"
    ) -> String {
      fields.map { name, value in
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
      }.joined()
        + "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(filename)\"\r\n"
        + "Content-Type: text/plain\r\n\r\n\(file)\r\n--\(boundary)--\r\n"
    }

    private static func policy(_ conditions: String, seconds: Int64 = 600) -> String {
      let text = "{\"expiration\":\"\(date(seconds).isoText)\",\"conditions\":[\(conditions)]}"
      return Base64.encode(Array(text.utf8))
    }

    /// The form fields of a Signature Version 4.
    private static func signed(_ policy: String, by client: SignedClient) -> [(String, String)] {
      let time = SignatureTime(date())
      let scope = SignatureScope(day: time.day, region: "eu-west-1", service: "s3")
      let credential = SignatureCredential(accessKey: client.id, scope: scope)
      return [
        ("policy", policy), ("x-amz-algorithm", SignatureAlgorithm.name),
        ("x-amz-credential", credential.text), ("x-amz-date", time.text),
        ("x-amz-signature", SignatureKey(secret: client.secret, scope: scope).sign(policy)),
      ]
    }

    private static let ofSignature =
      "[\"starts-with\",\"$x-amz-algorithm\",\"\"],[\"starts-with\",\"$x-amz-credential\",\"\"],"
      + "[\"starts-with\",\"$x-amz-date\",\"\"]"

    private static func post(
      _ larder: RunningLarder, _ bucket: String, _ body: String
    ) async throws -> RawResponse {
      try await larder.request(
        "POST", "/s3/\(bucket)",
        headers: [("Content-Type", "multipart/form-data; boundary=\(boundary)")], body: body)
    }

    @Test("A form uploads what its policy allows")
    func uploads() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let policy = Self.policy(
        "{\"bucket\":\"plain\"},[\"starts-with\",\"$key\",\"u/\"],{\"acl\":\"private\"},"
          + "[\"starts-with\",\"$Content-Type\",\"text/\"],[\"content-length-range\",1,10],"
          + "{\"x-amz-meta-a\":\"b\"},{\"success_action_status\":\"201\"},\(Self.ofSignature)")
      let fields =
        [
          ("key", "u/${filename}"), ("ACL", "private"), ("Content-Type", "text/plain"),
          ("x-amz-meta-a", "b"), ("success_action_status", "201"), ("x-ignore-me", "1"),
        ] + Self.signed(policy, by: client)
      let stored = try await Self.post(
        larder, "plain", Self.form(fields, filename: "C:\\dir\\a.txt"))
      #expect(stored.status == 201, "\(stored.text)")
      let root = try XMLReader.read(stored.body)
      #expect(root.name == "PostResponse" && root["Key"]?.text == "u/a.txt")
      let read = try await client.ask("GET", "/s3/plain/u/a.txt")
      #expect(read.text == "hello")
      #expect(read["content-type"] == "text/plain" && read["x-amz-meta-a"] == "b")
      // Each of these breaks one rule, and nothing is stored.
      for (name, body) in [
        ("too long", Self.form(fields, file: "hello hello", filename: "n")),
        ("too short", Self.form(fields, file: "", filename: "n")),
        ("key", Self.form([("key", "v/n")] + fields.dropFirst())),
        ("an unknown field", Self.form(fields + [("x-amz-meta-z", "1")], filename: "n")),
        (
          "no end",
          String(Self.form(fields, filename: "n").dropLast(Self.boundary.count + 6))
        ),
      ] {
        let refused = try await Self.post(larder, "plain", body)
        #expect([400, 403].contains(refused.status), "\(name): \(refused.status)")
        #expect(refused.s3Code != nil, "\(name)")
        #expect(try await client.ask("GET", "/s3/plain/u/n").status == 404, "\(name)")
        #expect(try await client.ask("GET", "/s3/plain/v/n").status == 404, "\(name)")
      }
      let elsewhere = try await Self.post(larder, "pics", Self.form(fields))
      #expect(elsewhere.status == 403)
      await larder.stop()
    }

    @Test("A form without a valid signature uploads nothing")
    func refusesForms() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let reader = try await SignedClient.issue(larder, #"{"readOnly":true}"#)
      let conditions = "{\"bucket\":\"plain\"},{\"key\":\"k\"},\(Self.ofSignature)"
      let policy = Self.policy(conditions)
      let key = [("key", "k")]
      let good = Self.signed(policy, by: client)
      let wrong = SignedClient(larder: larder, id: client.id, secret: "wrong")
      let stranger = SignedClient(larder: larder, id: "LARDERNOBODY", secret: "wrong")
      for (name, fields, status) in [
        ("unsigned", key, 403), ("another secret", key + Self.signed(policy, by: wrong), 403),
        ("an unknown key", key + Self.signed(policy, by: stranger), 403),
        ("a key for reading", key + Self.signed(policy, by: reader), 403),
        (
          "expired", key + Self.signed(Self.policy(conditions, seconds: -60), by: client), 403
        ),
        ("no signature", key + good.dropLast(), 400), ("no key", good, 400),
        (
          "another policy",
          key + [("policy", Self.policy(conditions + ",{\"a\":\"b\"}"))] + good.dropFirst(), 403
        ),
        ("no policy", key + Self.signed("bm8=", by: client), 400),
      ] {
        let answer = try await Self.post(larder, "plain", Self.form(fields))
        #expect(answer.status == status, "\(name): \(answer.text)")
        #expect(answer.s3Code != nil, "\(name)")
      }
      #expect(try await client.ask("GET", "/s3/plain/k").status == 404)
      #expect(try await Self.post(larder, "plain", Self.form(key + good)).status == 204)
      #expect(try await client.ask("GET", "/s3/plain/k").text == "hello")
      let noForm = try await larder.request("POST", "/s3/plain", headers: [], body: "{}")
      #expect(noForm.status == 412)
      await larder.stop()
    }
  }
}
