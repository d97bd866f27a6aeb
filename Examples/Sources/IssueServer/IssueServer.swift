import Foundation
import Hummingbird
import Sync

/// A server that keeps the issues of a service: it takes webhooks and whole lists, and says what it has as JSON, and what
/// becomes of it as server-sent events.
public enum IssueServer {
    /// The routes.
    public static func router(_ store: IssueStore) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("webhook") { request, context in
            let delivery = request.headers.first { $0.name.canonicalName == "x-delivery" }?.value ?? UUID().uuidString
            let body = try await request.body.collect(upTo: context.maxUploadSize)
            do {
                let result = try await store.receive(Data(body.readableBytesView), delivery: delivery)
                return text(result?.description ?? "known already")
            } catch let error as SyncError {
                return text(error.description, status: .badRequest)
            }
        }
        // A list of any size: it is read, mapped and written as it arrives, in NIO's buffers.
        router.put("issues") { request, _ in
            do {
                let chunks = request.body.map { Array($0.readableBytesView) }
                return text("\(try await Sync.changes(.buffers(chunks), inEntity: "Issue", stack: store.stack))")
            } catch let error as SyncError {
                return text(error.description, status: .badRequest)
            }
        }
        router.get("issues") { request, _ in
            let state = request.uri.queryParameters["state"].map(String.init)
            let rows = try await store.stack.export(
                "Issue", where: state.map { .where("state == %@", $0) } ?? .all, orderedBy: "id")
            return json(try JSONEncoder().encode(rows))
        }
        router.get("changes") { _, _ in events(store) }
        return router
    }

    /// One event for each transaction that changed issues, with all there are at first.
    private static func events(_ store: IssueStore) -> Response {
        let body = ResponseBody { writer in
            for try await change in try store.stack.observeChanges(Issue.self) {
                let issues = change.rows
                let event = Event(
                    inserted: change.inserted.map { issues[$0].id },
                    updated: change.updated.map { issues[$0.new].id }, removed: change.removed.count)
                let data = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
                try await writer.write(ByteBuffer(string: "data: \(data)\n\n"))
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    private struct Event: Encodable {
        let inserted: [Int]
        let updated: [Int]
        let removed: Int
    }

    private static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    private static func json(_ data: Data) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }
}
