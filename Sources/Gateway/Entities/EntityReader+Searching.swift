import Filtering
import LosslessJSON
package import Model
import Storage

extension EntityReader {
  /// The maximum number of hits in one response.
  static let searchLimitMax = 100
  private static let searchLimitDefault = 20
  private static let searchParameters: Set<String> = ["q", "types", "limit", "after", "include"]

  /// Searches full text by the parameters `q`, `types` (names, separated by commas), `limit`, `after` and
  /// `include`, which nests relationships of the found entities.
  package func search(
    _ parameters: [CollectionRequest.Parameter], caller: Caller
  ) async throws(Failure) -> Response {
    let asked = try question(
      parameters, searchable: try readable(by: caller).map(\.type).filter { !$0.search.isEmpty })
    let page = try await reading { () async throws(StorageError) in
      try await store.search(
        asked.text, types: asked.types, viewer: caller.viewer, limit: asked.limit + 1,
        offset: asked.offset, deadline: deadline)
    }
    try admit(caller, toAllOf: asked.form)
    let shown = page.hits.prefix(asked.limit)
    let read = try await documents(
      of: shown.map { ($0.key, $0.record) }, as: asked.form, caller)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for (hit, document) in zip(shown, read.documents) {
      guard let document else { continue }
      writer.beginObject()
      writer.name("type")
      writer.string(hit.key.type)
      writer.name("id")
      writer.string(hit.key.key)
      writer.name("score")
      writer.raw("\(hit.score)")
      writer.name("snippet")
      writer.string(hit.snippet)
      writer.name("entity")
      writer.raw(document.body)
      writer.endObject()
    }
    writer.endArray()
    if page.isApproximate {
      writer.name("approximate")
      writer.bool(true)
    }
    if page.hits.count > asked.limit {
      let position = EntityPosition(
        values: [.integer(Int64(asked.offset + asked.limit))], key: "")
      writer.name("next")
      writer.string(tokens.encode(position, question: asked.question))
    }
    writer.endObject()
    return Response(body: writer.bytes)
  }

  private struct SearchQuestion {
    let text: SearchText
    let types: [EntityType]
    let limit: Int
    let offset: Int
    let form: EntityForm
    let question: String
  }

  private func question(
    _ parameters: [CollectionRequest.Parameter], searchable: [EntityType]
  ) throws(Failure) -> SearchQuestion {
    var faults: [Failure.Detail] = []
    func fault(_ name: String, _ detail: String) {
      faults.append(.init(place: .parameter(name), detail: detail))
    }
    func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
    for parameter in parameters where !Self.searchParameters.contains(parameter.name) {
      fault(parameter.name, "is not a known parameter")
    }
    let words = value("q") ?? ""
    var text: SearchText?
    do throws(SearchText.Fault) {
      text = try SearchText(words)
    } catch {
      fault("q", error.phrase)
    }
    var types = searchable
    if let names = value("types")?.split(separator: ",").map(String.init) {
      let asked = names.map { (name: $0, types: directory.concreteTypes(of: $0)) }
      types = searchable.filter { type in asked.contains { $0.types.contains(type.name) } }
      for (name, concrete) in asked
      where !searchable.contains(where: { concrete.contains($0.name) }) {
        fault("types", "\(name) has no search fields")
      }
    }
    var limit = Self.searchLimitDefault
    if let asked = value("limit") {
      limit = Int(asked) ?? 0
      if !(1...Self.searchLimitMax).contains(limit) {
        fault("limit", "must be a number from 1 to \(Self.searchLimitMax)")
      }
    }
    let question = "search \(words.utf8.count):\(words)\(value("types") ?? "")"
    var offset = 0
    if let after = value("after") {
      if case .integer(let number)? = (try? tokens.decode(after, question: question))?.values.first,
        (0...Int64(Int32.max)).contains(number)
      {
        offset = Int(number)
      } else {
        fault("after", "is not a page token of this search")
      }
    }
    var forms = EntityFormReader(directory: directory)
    let form = forms.read(nil, include: value("include"), of: types.map(\.name))
    for message in forms.faults { fault("include", message) }
    if let message = EntityFormReader.excess(of: form, in: limit) { fault("include", message) }
    guard faults.isEmpty, let text else {
      throw Failure(
        .malformedRequest, "\(faults.count) of the parameters are invalid.", details: faults)
    }
    return SearchQuestion(
      text: text, types: types, limit: limit, offset: offset, form: form, question: question)
  }
}

extension SearchText.Fault {
  fileprivate var phrase: String {
    switch self {
    case .empty: "contains no words"
    case .unclosedPhrase: "has an unclosed quotation mark"
    case .tooManyTerms: "has more than \(SearchText.termsMax) words and phrases"
    case .barePrefix: "has a * without a word before it"
    }
  }
}
