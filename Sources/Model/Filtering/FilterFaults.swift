/// One thing wrong with a filter or its arguments, in words for whoever wrote it.
package struct FilterFault: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// In the filter's text, counted in characters from 1.
    case position(Int)
    /// An argument: `arg`, `arg.min`.
    case argument(String)
  }

  package let place: Place
  package let message: String
}

/// Why a filter cannot be used: the first fault of its syntax, or all faults of its meaning.
package struct FilterFaults: Error, Hashable, Sendable {
  package let all: [FilterFault]
}
