import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// A network that records requests, runs an action during each, and breaks down at a change if a test requests it.
actor NotingNetwork: HTTPTransport {
    /// The outcome of the next change, after which no request gets through.
    enum Fate {
        /// The request does not arrive.
        case lost
        /// The request is carried out, and the answer is lost.
        case unanswered
        /// The request arrives when the test calls ``deliver()``.
        case late
    }

    struct Note: Sendable {
        let method: HTTPRequest.Method
        let path: String
        let query: [String: String]
        let body: JSONValue?
    }

    private struct Lost: Error {}

    private let inner: any HTTPTransport
    private var fate: Fate?
    private var isDown = false
    private var late: [(request: HTTPRequest, body: Data?)] = []
    private var meanwhile: (@Sendable (Note) async throws -> Void)?
    /// The requests so far.
    private(set) var notes: [Note] = []

    init(over inner: any HTTPTransport = DefaultTransport()) { self.inner = inner }

    func forget() { notes = [] }
    func breakDown(_ fate: Fate) { self.fate = fate }
    func comeBack() { isDown = false }
    func setMeanwhile(_ meanwhile: (@Sendable (Note) async throws -> Void)?) { self.meanwhile = meanwhile }

    /// Returns the GET requests whose path has a suffix.
    func asked(_ end: String) -> [Note] { notes.filter { $0.method == .get && $0.path.hasSuffix(end) } }

    func deliver() async throws {
        let requests = late
        late = []
        for (request, body) in requests { _ = try await inner.send(request, body: body) }
    }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let components = URLComponents(string: request.path ?? "")
        let items = (components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        let note = Note(
            method: request.method, path: components?.path ?? "", query: Dictionary(items) { _, last in last },
            body: body.flatMap { try? JSONValue(parsing: $0) })
        notes.append(note)
        try await meanwhile?(note)
        if isDown { throw Lost() }
        guard request.method != .get, let fate else { return try await inner.send(request, body: body) }
        (self.fate, isDown) = (nil, true)
        switch fate {
        case .lost: break
        case .unanswered: _ = try await inner.send(request, body: body)
        case .late: late.append((request, body))
        }
        throw Lost()
    }
}
