import Foundation
import HTTPTypes
import SyncCore

extension ChangesService {
    /// All in one request, which is done whole or not at all.
    ///
    /// - Throws: ``ServiceFailure`` `outdated` where something changed since the last pull, `refusedTogether` where a change is
    ///   refused; what holds for all services. Nothing was done then, or it does no harm to do it again.
    public func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        // Without a pull before nobody can tell what changed since.
        guard let cursor = operations.first?.cursor else { throw ServiceFailure.outdated }
        let answer = try await exchange.send(.post, url(since: cursor), changes(operations))
        switch answer.status {
        case 200..<300: return try outcomes(answer, operations)
        case 409, 412: throw ServiceFailure.outdated
        case 400, 422: throw ServiceFailure.refusedTogether("status \(answer.status): \(answer.message)")
        default: throw answer.refusal
        }
    }

    private func changes(_ operations: [PushOperation]) throws -> JSONValue {
        var changes: [String: [PushOperation.Kind: [JSONValue]]] = [:]
        for operation in operations {
            guard let id = operation.id else { throw ServiceFailure.malformed("a row has no id") }
            changes[table(of: operation.entity), default: [:]][operation.kind, default: []]
                .append(operation.kind == .delete ? id : row(operation, id))
        }
        return .object(
            changes.sorted { $0.key < $1.key }.map { table, lists in
                JSONValue.Member(
                    table,
                    [
                        "created": .array(lists[.create] ?? []), "updated": .array(lists[.update] ?? []),
                        "deleted": .array(lists[.delete] ?? []),
                    ])
            })
    }

    private func row(_ operation: PushOperation, _ id: JSONValue) -> JSONValue {
        operation.body.without(at: keyPath(of: operation.entity)).setting(id, at: ["id"])
    }

    /// All are done, but those that the answer names.
    private func outcomes(_ answer: HTTPExchange.Answer, _ operations: [PushOperation]) throws -> [PushOutcome] {
        // Somebody between us and the service may have answered: it says nothing, or JSON.
        let isBlank = answer.body.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }
        let said: JSONValue = isBlank ? [:] : try answer.json()
        guard case .object = said else { throw ServiceFailure.malformed("it is no object (\(answer.place))") }
        let rejected = said["experimentalRejectedIds"]
        return operations.map { operation in
            if let id = operation.id, case .array(let ids)? = rejected?[table(of: operation.entity)], ids.contains(id) {
                return .rejected("the service does not take it (experimentalRejectedIds)")
            }
            guard operation.kind != .delete, let id = operation.id else { return .applied(nil) }
            return .applied(RemoteRow(id: id, record: nil, version: Self.version(of: row(operation, id))))
        }
    }
}
