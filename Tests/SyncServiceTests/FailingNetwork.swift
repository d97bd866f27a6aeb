import Foundation
import HTTPTypes
import Sync
import SyncTesting

@testable import SyncService

/// A network that loses requests and answers, and delivers some requests late.
actor FailingNetwork: HTTPTransport {
    private struct Lost: LocalizedError {
        let errorDescription: String? = "the connection was lost"
    }

    private let transport: any HTTPTransport
    private var faults: SeededFaults?
    private var meanwhile: (@Sendable () async -> Void)?
    private var count = 0
    private var late: [(countdown: Int, request: HTTPRequest, body: Data?)] = []
    private let rows: @Sendable (_ body: JSONValue, _ answer: JSONValue) -> [JSONValue]
    private let answerLost: @Sendable () async -> Void
    /// The bodies of all creates and updates that the service carried out.
    private(set) var accepted: [JSONValue] = []
    /// The number of requested files.
    private(set) var downloads = 0

    /// - Parameters:
    ///   - transport: The network below.
    ///   - rows: Returns the records in the body of a request that was carried out.
    ///   - answerLost: Called after a request that was carried out and whose answer is lost.
    init(
        over transport: any HTTPTransport = DefaultTransport(),
        rows: @escaping @Sendable (_ body: JSONValue, _ answer: JSONValue) -> [JSONValue] = FailingNetwork.rows,
        answerLost: @escaping @Sendable () async -> Void = {}
    ) {
        (self.transport, self.rows, self.answerLost) = (transport, rows, answerLost)
    }

    func setFaults(_ faults: SeededFaults?) { (self.faults, count) = (faults, 0) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) { self.meanwhile = meanwhile }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        await meanwhile?()
        count += 1
        if request.method == .get, request.path?.contains("/files/") == true { downloads += 1 }
        for index in late.indices { late[index].countdown -= 1 }
        let due = late.filter { $0.countdown <= 0 }
        late.removeAll { $0.countdown <= 0 }
        for (_, request, body) in due { try await loseAnswer(request, body) }
        switch faults?.fault(count) {
        case .failsBeforeApply?: throw Lost()
        case .busy?: return (HTTPResponse(status: .serviceUnavailable), Data())
        case .refuse?: return (HTTPResponse(status: .badRequest), Data())
        case .appliesLate(let requests)?:
            late.append((requests, request, body))
            throw Lost()
        case .failsAfterApply?:
            try await loseAnswer(request, body)
            throw Lost()
        case nil: return try await carryOut(request, body)
        }
    }

    private func loseAnswer(_ request: HTTPRequest, _ body: Data?) async throws {
        _ = try await carryOut(request, body)
        await answerLost()
    }

    private func carryOut(_ request: HTTPRequest, _ body: Data?) async throws -> (HTTPResponse, Data) {
        let answer = try await transport.send(request, body: body)
        if request.method != .get, answer.0.status.kind == .successful, let body,
            let json = try? JSONValue(parsing: body)
        {
            accepted += rows(json, (try? JSONValue(parsing: answer.1)) ?? .null)
        }
        return answer
    }

    /// Returns the record of a body, or the records of a batch without those that were answered with an error.
    static func rows(_ body: JSONValue, _ answer: JSONValue) -> [JSONValue] {
        guard case .array(let requests)? = body["requests"] else { return [body] }
        var answers: [JSONValue] = []
        if case .array(let elements) = answer { answers = elements }
        return requests.enumerated().compactMap { index, request in
            index < answers.count && answers[index]["error"] != nil ? nil : request["body"]
        }
    }
}
