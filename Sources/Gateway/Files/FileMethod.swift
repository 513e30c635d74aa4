/// What a link may be used for. Reading takes HEAD as well as GET.
package enum FileMethod: String, CaseIterable, Sendable {
  case get = "GET"
  case put = "PUT"
  case delete = "DELETE"

  package var action: FileAction { self == .get ? .read : .write }
}
