import HTTPWire

/// The value of `Accept`, reduced to the media types of `/v1/graphql` (RFC 9110 section 12.5.1).
///
/// Without the field, or with nothing but wildcards, the type is `application/json`, which every client
/// reads. Events are chosen for a single response only if the client prefers them: some clients list
/// them with every request, for the case of a subscription.
struct GraphQLAccept: Sendable, Hashable {
  /// How much a type is wanted.
  private struct Wish: Sendable, Hashable, Comparable {
    /// 0–1000; 0 is not acceptable.
    var thousandths = 0
    /// 2 for the type's own name, 1 for a wildcard of its kind, 0 for any type.
    var precision = -1

    mutating func note(_ thousandths: Int, precision: Int) {
      if precision >= self.precision { self = Wish(thousandths: thousandths, precision: precision) }
    }

    static func < (left: Wish, right: Wish) -> Bool {
      (left.thousandths, left.precision) < (right.thousandths, right.precision)
    }
  }

  /// The media types of responses.
  enum MediaType: Sendable, Hashable {
    case graphQL
    case json
    case events
  }

  private var graphQL = Wish()
  private var json = Wish()
  private var events = Wish()

  /// - Parameter field: the lines of the field, joined; nil without the field.
  init(_ field: ArraySlice<UInt8>?) {
    guard var rest = field else {
      json = Wish(thousandths: 1000, precision: 0)
      return
    }
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
      note(rest[rest.startIndex..<end])
      rest = end < rest.endIndex ? rest[(end + 1)...] : []
    }
  }

  /// The media type of one response; nil if the client accepts none.
  var single: MediaType? {
    let best = max(graphQL, json)
    if events.precision == 2, events.thousandths > best.thousandths { return .events }
    guard best.thousandths > 0 else { return nil }
    // A wildcard alone does not say that the client reads the newer type.
    let isPreferred = graphQL >= json && graphQL.precision > 0
    return isPreferred || json.thousandths == 0 ? .graphQL : .json
  }

  /// Whether a stream of events is acceptable. A wildcard is not enough: a client that does not name
  /// the type does not expect a response without an end.
  var takesEvents: Bool { events.precision == 2 && events.thousandths > 0 }

  private mutating func note(_ element: ArraySlice<UInt8>) {
    let end = element.firstIndex(of: UInt8(ascii: ";")) ?? element.endIndex
    let type = element[element.startIndex..<end].trimmingBlanks
    guard !type.isEmpty, let weight = Self.thousandths(element[end...]) else { return }
    if type.equalsIgnoringCase("application/graphql-response+json") {
      graphQL.note(weight, precision: 2)
    } else if type.equalsIgnoringCase("application/json") {
      json.note(weight, precision: 2)
    } else if type.equalsIgnoringCase("text/event-stream") {
      events.note(weight, precision: 2)
    } else if type.equalsIgnoringCase("application/*") {
      // Both are of the kind; the older one is the safer choice.
      graphQL.note(weight, precision: 0)
      json.note(weight, precision: 1)
    } else if type.equalsIgnoringCase("*/*") {
      graphQL.note(weight, precision: 0)
      json.note(weight, precision: 0)
    }
  }

  /// The quality among an element's parameters, 1000 without one; nil if it is malformed.
  private static func thousandths(_ parameters: ArraySlice<UInt8>) -> Int? {
    for parameter in parameters.split(separator: UInt8(ascii: ";")) {
      let parameter = parameter.trimmingBlanks
      guard parameter.count > 2, parameter.prefix(2).equalsIgnoringCase("q=") else { continue }
      return thousandths(digits: parameter.dropFirst(2))
    }
    return 1000
  }

  /// `0`, `0.8`, `1.000` (RFC 9110 section 12.4.2).
  private static func thousandths(digits text: ArraySlice<UInt8>) -> Int? {
    guard let first = text.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"),
      text.count <= 5
    else { return nil }
    var value = Int(first - UInt8(ascii: "0")) * 1000
    let rest = text.dropFirst()
    guard rest.first.map({ $0 == UInt8(ascii: ".") }) ?? true else { return nil }
    var unit = 100
    for digit in rest.dropFirst() {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value += Int(digit - UInt8(ascii: "0")) * unit
      unit /= 10
    }
    return value <= 1000 ? value : nil
  }
}
