package import HTTPTypes
package import HTTPWire
package import Transport

/// Answers with files that are open already, or with content in memory: whole, or the ranges a request asks for.
package struct OpenedFiles: Sendable {
  private let pool: BlockingPool
  private let ranges: StaticFiles.RangeLimits

  package init(pool: BlockingPool, ranges: StaticFiles.RangeLimits) {
    self.pool = pool
    self.ranges = ranges
  }

  /// - Parameters:
  ///   - tag: strong, of the whole file; `If-Range` is judged by it.
  ///   - fields: of the whole file's answer.
  package func answer(
    _ request: ServerRequest, _ content: RangedContent, tag: EntityTag, modified: HTTPDate,
    fields: HTTPFields
  ) -> ServerResponse {
    let answer = FileRangeResponse(
      content: content, tag: tag, modified: modified, fields: fields, limits: ranges, pool: pool)
    return answer.respond(to: request)
      ?? ServerResponse(fields: fields, body: content.body(0..<content.byteCount))
  }
}
