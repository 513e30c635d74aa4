import Gateway
import LosslessJSON
import Model

/// The body of `POST …/diff`: `{"have":[["Film/9","<rev>"], …]}`.
enum DiffBaseDocument {
  /// Rows that a client may tell; more are asked for as a whole list.
  static let rowsMax = 100_000

  static func vector(_ bytes: [UInt8]) throws(Failure) -> ListVector {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let have = body["have"]?.array, have.count <= rowsMax else {
      throw fault("/have", "is a list of at most \(rowsMax) pairs")
    }
    var rows: [ListVector.Row] = []
    rows.reserveCapacity(have.count)
    for (index, element) in have.enumerated() {
      guard let pair = element.array, pair.count == 2, let id = pair[0].string,
        let revision = pair[1].string
      else { throw fault("/have/\(index)", "is [\"Type/id\", \"revision\"]") }
      rows.append(ListVector.Row(id: id, revision: revision))
    }
    return ListVector(rows: rows)
  }

  private static func fault(_ pointer: String, _ detail: String) -> Failure {
    Failure(
      .malformedRequest, "The list cannot be read.",
      details: [Failure.Detail(place: .pointer(pointer), detail: detail)])
  }
}
