import Foundation
import HTTPWire
import TestSupport
import Testing

/// A shared HTTP cache in front of a service, which keeps and reuses whatever RFC 9111 permits. Section numbers
/// are of that RFC.
///
/// It keeps responses without a lifetime for validation, sends the validators of stored responses with the
/// credentials of whichever caller asks, and updates stored responses with the fields of each 304.
final class SharedCacheModel {
  /// A response as a caller gets it.
  struct Answer {
    let status: Int
    let fields: [(String, String)]
    let body: [UInt8]
    /// Whether the body is a stored one, validated or not.
    let isStored: Bool

    subscript(name: String) -> String? { fields.first { $0.0 == name }?.1 }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private struct Entry {
    let status: Int
    var fields: [(String, String)]
    let body: [UInt8]
    /// The values of the request that `Vary` names.
    let selecting: [String: String]
    var received: Int

    subscript(name: String) -> String? { fields.first { $0.0 == name }?.1 }

    var directives: [String: String] { SharedCacheModel.directives(self["cache-control"]) }

    func matches(_ request: [(String, String)]) -> Bool {
      selecting.allSatisfy { SharedCacheModel.value($0.key, in: request) == $0.value }
    }

    /// Section 4.2: seconds for which it is fresh; negative when stale.
    func lifetime(at now: Int) -> Int {
      let maxAge = directives["s-maxage"] ?? directives["max-age"]
      let age = (self["age"].flatMap { Int($0) } ?? 0) + now - received
      return (maxAge.flatMap { Int($0) } ?? 0) - age
    }
  }

  private let larder: RunningLarder
  /// Whether requests with a device token go to the service, and their responses to their devices.
  private let passesDevices: Bool
  private var entries: [String: [Entry]] = [:]
  /// Seconds; time passes only here.
  private var now = 0
  /// The number of stored responses that were used without a request, and after a 304.
  private(set) var hits = 0
  private(set) var validated = 0
  /// The number of responses that were stored.
  private(set) var stored = 0

  init(_ larder: RunningLarder, passesDevices: Bool) {
    self.larder = larder
    self.passesDevices = passesDevices
  }

  func advance(seconds: Int) { now += seconds }

  /// Responds to a request by `GET`.
  func get(_ target: String, _ fields: [(String, String)]) async throws -> Answer {
    if passesDevices, Self.value("device-token", in: fields) != "" {
      let answer = try await larder.request("GET", target, headers: fields)
      return Answer(
        status: answer.status, fields: answer.headers, body: answer.body, isStored: false)
    }
    // Section 4.1: the latest of the matching responses.
    let matching = entries[target, default: []].indices.last {
      entries[target]?[$0].matches(fields) == true
    }
    if let matching, let entry = entries[target]?[matching] {
      if entry.directives["no-cache"] == nil, entry.lifetime(at: now) > 0 {
        hits += 1
        return answer(entry)
      }
      return try await validate(target, fields, matching, entry)
    }
    let answer = try await larder.request("GET", target, headers: fields)
    return keep(answer, target, fields)
  }

  /// Section 4.3: sends the validator of a stored response with the caller's own fields.
  private func validate(
    _ target: String, _ fields: [(String, String)], _ index: Int, _ entry: Entry
  ) async throws -> Answer {
    guard let tag = entry["etag"], Self.value("if-none-match", in: fields) == "" else {
      return keep(try await larder.request("GET", target, headers: fields), target, fields)
    }
    let answer = try await larder.request(
      "GET", target, headers: fields + [("If-None-Match", tag)])
    guard answer.status == 304 else { return keep(answer, target, fields) }
    // Section 4.3.4: updates the responses with the same strong validator.
    #expect(answer["etag"] == tag, "\(target)")
    let directives = Self.directives(answer["cache-control"])
    #expect(directives["private"] == nil, "a 304 makes a shared response private: \(target)")
    #expect(directives["no-store"] == nil, "\(target)")
    var updated = entry
    for (name, _) in answer.headers { updated.fields.removeAll { $0.0 == name } }
    updated.fields += answer.headers
    updated.received = now
    entries[target]?[index] = updated
    validated += 1
    return self.answer(updated)
  }

  /// Section 3: keeps a response if a shared cache may.
  private func keep(
    _ answer: RawResponse, _ target: String, _ fields: [(String, String)]
  ) -> Answer {
    let result = Answer(
      status: answer.status, fields: answer.headers, body: answer.body, isStored: false)
    let directives = Self.directives(answer["cache-control"])
    let hasAuthorization = Self.value("authorization", in: fields) != ""
    let permits = ["public", "s-maxage", "must-revalidate"].contains { directives[$0] != nil }
    let isHeuristic = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(
      answer.status)
    let vary = (answer["vary"] ?? "").lowercased().split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard directives["no-store"] == nil, directives["private"] == nil,
      !hasAuthorization || permits, !vary.contains("*"),
      isHeuristic || directives["public"] != nil || directives["max-age"] != nil
    else { return result }
    let selecting = Dictionary(
      vary.map { ($0, Self.value($0, in: fields)) }, uniquingKeysWith: { first, _ in first })
    entries[target, default: []].removeAll { $0.selecting == selecting }
    entries[target, default: []].append(
      Entry(
        status: answer.status, fields: answer.headers, body: answer.body, selecting: selecting,
        received: now))
    stored += 1
    return result
  }

  private func answer(_ entry: Entry) -> Answer {
    Answer(status: entry.status, fields: entry.fields, body: entry.body, isStored: true)
  }

  private static func directives(_ text: String?) -> [String: String] {
    let pairs = (text ?? "").lowercased().split(separator: ",").map { part in
      let sides = part.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
      return (String(sides.first ?? ""), sides.count > 1 ? String(sides[1]) : "")
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// The value of a request's field; empty without it.
  private static func value(_ name: String, in fields: [(String, String)]) -> String {
    fields.filter { $0.0.lowercased() == name }.map(\.1).joined(separator: ", ")
  }
}
