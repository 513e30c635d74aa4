/// How a demo server goes wrong. The raw forms are the words of `POST /__demo`.
package enum FailMode: Sendable, Hashable {
  case off
  /// Nobody listens: connections are refused.
  case refuse
  /// No answer ever comes; the request is held until the mode changes.
  case hang
  /// An HTTP error status with a JSON body that is no GraphQL answer.
  case status(Int)
  /// A proxy's error page: 502 with `text/html`.
  case html
  /// 200 with a body cut off inside the JSON, its length as announced.
  case brokenJSON
  /// The answer's head and half its body, then the connection ends.
  case halfBody
  /// A body of `DemoSwitches.oversizeBytes`.
  case oversize
  /// 200 with `errors` and `data: null`.
  case graphQLErrors
  /// The answer with the fields of `DemoSwitches.partialFields` failed.
  case partial
}

extension FailMode {
  package init?(word: String) {
    switch word {
    case "off": self = .off
    case "refuse": self = .refuse
    case "hang": self = .hang
    case "html": self = .html
    case "broken-json": self = .brokenJSON
    case "half-body": self = .halfBody
    case "oversize": self = .oversize
    case "graphql-errors": self = .graphQLErrors
    case "partial": self = .partial
    default:
      guard let status = Int(word), (400...599).contains(status) else { return nil }
      self = .status(status)
    }
  }

  package var word: String {
    switch self {
    case .off: "off"
    case .refuse: "refuse"
    case .hang: "hang"
    case .status(let status): String(status)
    case .html: "html"
    case .brokenJSON: "broken-json"
    case .halfBody: "half-body"
    case .oversize: "oversize"
    case .graphQLErrors: "graphql-errors"
    case .partial: "partial"
    }
  }
}
