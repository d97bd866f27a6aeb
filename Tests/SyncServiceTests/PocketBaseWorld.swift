import Foundation
import HTTPTypes
import Sync
import SyncTesting

@testable import SyncService

/// A PocketBase server, behind a network that fails.
struct PocketBaseWorld: HistoryWorld {
    let service: any SyncService
    private let space: PocketBaseSpace
    private let network: FailingNetwork

    init(pageSize: Int, batchSize: Int) async throws {
        space = try await PocketBaseServer.shared.space()
        network = FailingNetwork()
        service = space.service(pageSize: pageSize, batchSize: batchSize, transport: network)
    }

    var accepted: [JSONValue] { get async { await network.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }

    func contents(of entity: String) async throws -> [JSONValue: JSONValue] {
        var contents: [JSONValue: JSONValue] = [:]
        for row in try await space.rows(space.paths[entity] ?? "") {
            guard case .object(let members) = row, let id = row["id"] else { continue }
            contents[id] = .object(members.filter { $0.value != "" })
        }
        return contents
    }
}

/// A network that loses requests and answers, and delivers some late.
actor FailingNetwork: HTTPTransport {
    private struct Lost: Error {}

    private let transport = DefaultTransport()
    private var faults: SeededFaults?
    private var meanwhile: (@Sendable () async -> Void)?
    private var count = 0
    private var late: [(countdown: Int, request: HTTPRequest, body: Data?)] = []
    /// The bodies of all creations and updates that were carried out.
    private(set) var accepted: [JSONValue] = []
    /// How many files were asked for.
    private(set) var downloads = 0

    func setFaults(_ faults: SeededFaults?) { (self.faults, count) = (faults, 0) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) { self.meanwhile = meanwhile }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        await meanwhile?()
        count += 1
        if request.path?.hasPrefix("/api/files/") == true { downloads += 1 }
        for index in late.indices { late[index].countdown -= 1 }
        let due = late.filter { $0.countdown <= 0 }
        late.removeAll { $0.countdown <= 0 }
        for (_, request, body) in due { _ = try await carryOut(request, body) }
        switch faults?.fault(count) {
        case .dropBefore?: throw Lost()
        case .busy?: return (HTTPResponse(status: .serviceUnavailable), Data())
        case .refuse?: return (HTTPResponse(status: .badRequest), Data())
        case .late(let requests)?:
            late.append((requests, request, body))
            throw Lost()
        case .dropAfter?:
            _ = try await carryOut(request, body)
            throw Lost()
        case nil: return try await carryOut(request, body)
        }
    }

    private func carryOut(_ request: HTTPRequest, _ body: Data?) async throws -> (HTTPResponse, Data) {
        let answer = try await transport.send(request, body: body)
        if request.method != .get, answer.0.status.kind == .successful, let body,
            let json = try? JSONValue(parsing: body)
        {
            if case .array(let requests)? = json["requests"] {
                accepted += requests.compactMap { $0["body"] }
            } else {
                accepted.append(json)
            }
        }
        return answer
    }
}
