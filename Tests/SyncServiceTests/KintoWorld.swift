import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// A Kinto server behind an unreliable network.
struct KintoWorld: HistoryWorld {
    let service: any SyncService
    private let direct: KintoService
    private let network = FailingNetwork { body, answer in
        guard case .array(let requests)? = body["requests"] else { return [] }
        var answers: [JSONValue] = []
        if case .array(let elements)? = answer["responses"] { answers = elements }
        return requests.enumerated().compactMap { index, request in
            guard index < answers.count, case .number(let status)? = answers[index]["status"], status.hasPrefix("2")
            else { return nil }
            return request["body"]?["data"]
        }
    }

    init(pageSize: Int) async throws {
        let user = "Basic \(Data("history-\(UUID().uuidString):secret".utf8).base64EncodedString())"
        direct = try await KintoServer.shared.service(authorization: user)
        service = try await KintoServer.shared.service(authorization: user, pageSize: pageSize, transport: network)
    }

    var accepted: [JSONValue] { get async { await network.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }

    func contents(of entity: String) async throws -> [JSONValue: JSONValue] {
        let page = try await direct.pull(PullRequest(entity: entity, cursor: nil))
        return Dictionary(page.records.compactMap { row in row.record.map { (row.id, $0) } }) { _, last in last }
    }
}
