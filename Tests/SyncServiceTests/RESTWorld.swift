import Foundation
import Sync

@testable import SyncService

/// The options of a REST service in a random history, and the same options for the server of `Tests/Servers/REST`.
struct RESTMake: Sendable {
    var options = RESTOptions()
    var pageSize = 1000

    /// - Parameter number: Returns a random number below a bound.
    init(_ number: (Int) -> Int) {
        pageSize = 1 + number(5)
        let isClient = number(2) == 0
        options.recordsKeyPath = "data"
        options.idAssignment = isClient ? .client : .server
        if !isClient {
            switch number(3) {
            case 0: options.idempotencyHeader = "Idempotency-Key"
            case 1: options.markerField = "marker"
            default: break
            }
        }
        // Without a precondition a PUT that creates a row would replace the row of another client.
        let isSince = number(3) > 0
        if isClient || number(2) == 0 { options.preconditionHeader = "If-Match" }
        if isSince {
            options.sinceParameter = "updated_since"
            if number(3) > 0 { options.deletedField = "deleted_at" }
        }
        options.versionField = number(2) == 0 ? "updated_at" : "version"
        if number(4) == 0 { options.updateMethod = .put }
        switch number(4) {
        case 0: options.paging = .page(size: "per_page", limit: pageSize, total: "total_pages")
        case 1: options.paging = .offset(limit: pageSize)
        case 2: options.paging = .page(size: "per_page", limit: pageSize)
        default: options.paging = .offset(limit: pageSize, total: "total")
        }
    }

    /// Returns the same options with the version numbers of the server.
    func withNumbers() -> RESTMake {
        var make = self
        if make.options.preconditionHeader != nil { make.options.versionField = "version" }
        return make
    }

    /// Whether the service gives the time of each change.
    var hasTimes: Bool { options.versionField == "updated_at" }

    /// The configuration of a server with these options.
    var configuration: JSONValue {
        var members: [JSONValue.Member] = [
            .init("envelope", .string(options.recordsKeyPath)), .init("ids", .string(options.idAssignment.rawValue)),
            .init("updates", "both"),
        ]
        if let key = options.idempotencyHeader { members.append(.init("idempotency", .string(key))) }
        if options.preconditionHeader != nil { members.append(.init("preconditions", true)) }
        if let since = options.sinceParameter { members.append(.init("since", .string(since))) }
        if options.deletedField != nil { members.append(.init("softDelete", true)) }
        if case .offset = options.paging {
            members.append(.init("paging", "offset"))
        } else {
            members.append(.init("paging", "page"))
        }
        return .object(members)
    }
}

/// The REST server of `Tests/Servers/REST` behind an unreliable network.
struct RESTServerWorld: HistoryWorld {
    let service: any SyncService
    let hasTimes: Bool
    private let space: RESTSpace
    private let network = FailingNetwork()

    init(_ make: RESTMake) async throws {
        let make = make.withNumbers()
        hasTimes = make.hasTimes
        space = try await RESTServer.shared.space(make.configuration)
        service = RESTService(baseURL: space.url, options: make.options, transport: network)
    }

    var accepted: [JSONValue] { get async { await network.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }

    func contents(of entity: String) async throws -> [JSONValue: JSONValue] {
        var contents: [JSONValue: JSONValue] = [:]
        for row in try await space.rows(RESTStub.paths[entity] ?? "") {
            if let id = row["id"] { contents[id] = row }
        }
        return contents
    }
}

/// A REST service in memory behind an unreliable network.
struct RESTWorld: HistoryWorld {
    let service: any SyncService
    let hasTimes: Bool
    private let stub: RESTStub
    private let network: FailingNetwork

    init(
        _ make: RESTMake, _ troubles: HistoryTroubles, _ ledger: HistoryLedger, _ members: Set<HistoryMember>
    ) throws {
        guard let url = URL(string: "http://rest.test") else { throw ServerFailure(text: "no address") }
        hasTimes = make.hasTimes
        stub = RESTStub(make, troubles, ledger, members)
        network = FailingNetwork(over: stub, answerLost: { [stub] in await stub.listHiddenRow() })
        service = RESTService(baseURL: url, options: make.options, transport: network)
    }

    var accepted: [JSONValue] { get async { await stub.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }
    func contents(of entity: String) async -> [JSONValue: JSONValue] { await stub.contents(of: entity) }
    func pass(_ step: SeededNumbers) async { await stub.pass(step) }
    func listHiddenRows() async { await stub.listHiddenRows() }
}
