import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// A stub of Parse behind an unreliable network.
struct ParseWorld: HistoryWorld {
    /// A Relation has no order.
    let keepsOrder = false

    /// How a new row is identified.
    enum IDs: CaseIterable {
        /// By its values.
        case looks
        /// By a request ID that the server remembers.
        case request
        /// By a field.
        case marker
        /// By an ID from the client.
        case client
    }

    let service: any SyncService
    private let space: RESTSpace
    private let network = FailingNetwork()

    init(ids: IDs, pageSize: Int) async throws {
        var configuration: [JSONValue.Member] = [.init("dialect", "parse"), .init("applicationID", "app")]
        var options = ParseOptions(applicationID: "app")
        options.pageSize = pageSize
        options.overlap = .zero
        switch ids {
        case .looks: break
        case .request: configuration.append(.init("idempotency", "on"))
        case .marker: options.markerField = "syncKey"
        case .client:
            configuration.append(.init("ids", "client"))
            options.idAssignment = .client
        }
        space = try await RESTServer.shared.space(.object(configuration))
        service = ParseService(baseURL: space.url, options: options, transport: network)
    }

    var accepted: [JSONValue] { get async { await network.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }

    func contents(of entity: String) async throws -> [JSONValue: JSONValue] {
        var contents: [JSONValue: JSONValue] = [:]
        for row in try await objects(entity) {
            guard let id = row["objectId"] else { continue }
            var plain = row
            if let project = row["project"]?["objectId"] { plain = plain.setting(project, at: ["project_id"]) }
            if entity == "Task", case .array(let pointers)? = row["tags"] {
                // An ordered list is an array of pointers.
                plain = plain.setting(.array(pointers.compactMap { $0["objectId"] }), at: ["tag_ids"])
            } else if entity == "Task" {
                let related: JSONValue = [
                    "$relatedTo": [
                        "object": ["__type": "Pointer", "className": "Task", "objectId": id], "key": "tags",
                    ]
                ]
                let tags = try await objects("Tag", where: related).compactMap { $0["objectId"] }
                plain = plain.setting(.array(tags), at: ["tag_ids"])
            }
            contents[id] = plain
        }
        return contents
    }

    private func objects(_ className: String, where condition: JSONValue = [:]) async throws -> [JSONValue] {
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name("X-Parse-Application-Id") { headers[name] = "app" }
        let text = String(decoding: CanonicalJSON.bytes(condition), as: UTF8.self)
        let query = [URLQueryItem(name: "where", value: text), URLQueryItem(name: "limit", value: "1000")]
        let answer = try await space.get("classes/\(className)", query, headers: headers)
        guard case .array(let objects)? = answer["results"] else { throw ServerFailure(text: "no list: \(answer)") }
        return objects
    }
}
