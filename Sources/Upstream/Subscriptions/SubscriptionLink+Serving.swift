import HTTPClient
import HTTPTypes
import HTTPWire

/// The life of one connection.
extension SubscriptionLink {
  func serve(_ number: Int, _ headers: CallHeaders) async {
    if environment.isEventStream {
      await serveStream(number, headers)
    } else {
      await serveSocket(number, headers)
    }
    endIfFinished()
  }

  // MARK: WebSocket

  private func serveSocket(_ number: Int, _ headers: CallHeaders) async {
    let socket: any SubscriptionSocket
    do throws(UpstreamFailure) {
      socket = try await environment.sockets.open(environment.offer(headers))
    } catch {
      handle(.openingFailed(error), of: number)
      return
    }
    environment.meters.connectionOpened()
    defer { environment.meters.connectionClosed() }
    guard let outgoing = adopt(socket, as: number), let dialect else {
      return socket.close(code: 1000, reason: "")
    }
    let sending = Task.detached { await Self.send(outgoing, on: socket) }
    await receive(socket, in: dialect, as: number)
    outgoing.finish()
    sending.cancel()
  }

  /// The end of a connection is the reader's to report.
  private static func send(_ outgoing: OutgoingTexts, on socket: any SubscriptionSocket) async {
    while let text = await outgoing.next() {
      do throws(SocketEnd) { try await socket.send(text) } catch { return }
    }
  }

  private func receive(
    _ socket: any SubscriptionSocket, in dialect: SubscriptionDialect, as number: Int
  ) async {
    let reader = UpstreamMessageReader(
      dialect: dialect, messageBytesMax: environment.limits.messageBytesMax,
      depthMax: environment.settings.responseDepthMax)
    while await waitForRoom(as: number) {
      do throws(SocketEnd) {
        guard handle(.message(reader.read(try await socket.next())), of: number) else { return }
      } catch {
        handle(.closed(code: error.code), of: number)
        return
      }
    }
  }

  // MARK: Event stream

  private func serveStream(_ number: Int, _ headers: CallHeaders) async {
    guard let request = onlyRequest.flatMap({ environment.request($0, headers) }) else { return }
    let response: any EventStreamResponse
    do throws(UpstreamFailure) {
      response = try await open(request)
    } catch {
      handle(.openingFailed(error), of: number)
      return
    }
    environment.meters.connectionOpened()
    defer { environment.meters.connectionClosed() }
    guard adopt(nil, as: number) != nil else { return }
    await receive(response, as: number)
  }

  /// Sends the request; a response that is no event stream is the failure that it reports.
  private func open(
    _ request: HTTPClientRequest
  ) async throws(UpstreamFailure) -> any EventStreamResponse {
    let response: any EventStreamResponse
    do throws(HTTPClientError) {
      response = try await environment.streams.open(request)
    } catch {
      throw UpstreamFailure(error, bytesMax: environment.limits.messageBytesMax)
    }
    let mediaType = (response.fields[.contentType] ?? "").prefix { $0 != ";" && $0 != " " }
    if response.status.code == 200, mediaType.lowercased() == "text/event-stream" {
      return response
    }
    let whole = HTTPClientResponse(
      status: response.status, fields: response.fields, body: try await rest(of: response))
    let read = try environment.reader.read(whole)
    guard read.data == nil else { throw .rejected(reason: "upstream sent no event stream") }
    throw read.rejection
  }

  private func rest(of response: any EventStreamResponse) async throws(UpstreamFailure) -> [UInt8] {
    var body: [UInt8] = []
    do throws(HTTPClientError) {
      while body.count < Self.errorBytesMax, let piece = try await response.next() { body += piece }
    } catch {
      throw UpstreamFailure(error, bytesMax: Self.errorBytesMax)
    }
    return body
  }

  /// A longer error is not read to its end.
  private static let errorBytesMax = 1 << 20

  private func receive(_ response: any EventStreamResponse, as number: Int) async {
    let limits = environment.limits
    let reader = UpstreamMessageReader(
      dialect: .eventStream, messageBytesMax: limits.messageBytesMax,
      depthMax: environment.settings.responseDepthMax)
    var parser = EventStreamParser(eventBytesMax: limits.messageBytesMax)
    while await waitForRoom(as: number) {
      let events: [EventStreamParser.Event]
      do {
        guard let piece = try await response.next() else {
          handle(.closed(code: 1005), of: number)
          return
        }
        events = try parser.parse(piece)
      } catch is EventStreamParser.Fault {
        handle(.closed(code: 1009), of: number)
        return
      } catch {
        handle(.closed(code: 1006), of: number)
        return
      }
      if events.isEmpty, !handle(.message(.keepAlive), of: number) { return }
      for event in events {
        guard await waitForRoom(as: number) else { return }
        let message = reader.read(event: event.name, data: event.data, id: onlyID)
        guard handle(.message(message), of: number) else { return }
      }
    }
  }
}
