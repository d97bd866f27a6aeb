import Foundation
import HTTPTypes
package import SyncCore

extension PocketBaseService {
    /// Pushes all changes in one atomic batch. If the server rejects the batch, the service sends the changes one by
    /// one. One invalid change then does not stop the others.
    package func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [Int: PushOutcome] = [:]
        for (index, operation) in operations.enumerated() {
            do { _ = try RowAddress(operation.id ?? .null) } catch let refusal as RowAddress.Refusal {
                outcomes[index] = .rejected(refusal.description)
            }
        }
        let addressed = operations.indices.filter { outcomes[$0] == nil }
        for (index, row) in try await stale(addressed.map { operations[$0] }) {
            outcomes[addressed[index]] = .conflict(row)
        }
        let fresh = addressed.filter { outcomes[$0] == nil }
        var whole: [PushOperation] = []
        for index in fresh { whole.append(try await completed(operations[index])) }
        var done = try await batch(whole)
        if done == nil { done = try await single(whole) }
        for (index, outcome) in zip(fresh, done ?? []) { outcomes[index] = outcome }
        return operations.indices.map { outcomes[$0] ?? .unknown("the service returned no outcome for the change") }
    }

    /// Fetches the records that have another version than the change is based on. The server has no preconditions. A
    /// check just before the push leaves little time for changes by others.
    ///
    /// - Returns: The records by the index of the change.
    private func stale(_ operations: [PushOperation]) async throws -> [Int: RemoteRecord] {
        var stale: [Int: RemoteRecord] = [:]
        for entity in Set(operations.map(\.entity)) {
            let versioned = operations.indices.filter {
                operations[$0].entity == entity && operations[$0].kind != .create && operations[$0].version != nil
            }
            let ids = versioned.compactMap { operations[$0].id }
            guard !ids.isEmpty else { continue }
            let rows = try await fetched(ids, of: entity)
            for index in versioned {
                guard let row = operations[index].id.flatMap({ rows[$0] }), row.version != operations[index].version
                else { continue }
                stale[index] = row
            }
        }
        return stale
    }

    private func fetched(_ ids: [JSONValue], of entity: String) async throws -> [JSONValue: RemoteRecord] {
        if ids.count > 1 { return try await listed(ids, of: entity) }
        var rows: [JSONValue: RemoteRecord] = [:]
        for (id, row) in zip(ids, try await fetch(ids, of: entity)) {
            if case .found(let row) = row { rows[id] = row }
        }
        return rows
    }

    // MARK: Batches

    /// Sends changes as one batch.
    ///
    /// - Returns: The outcomes; nil if the server applied no change, so that the caller sends single requests.
    private func batch(_ operations: [PushOperation]) async throws -> [PushOutcome]? {
        guard operations.count > 1, !refusesBatches.value else { return nil }
        let requests = try operations.map {
            try ChangeRequest(method: Self.method($0.kind), path: parts($0), body: sent($0))
        }
        let body = ChangeRequest.batch(requests, path: "url")
        let response: ServiceHTTPClient.Response
        do {
            response = try await retryingAsUser(if: \.isRefused) {
                try await exchange.send(.post, exchange.url(["api", "batch"]), body)
            }
        } catch ServiceError.unreachable(let text, _) {
            return operations.map { _ in .unknown(text) }
        }
        switch response.status {
        case 200..<300: break
        case 400:
            // The batch exceeds a limit of the server's settings.
            if case .string? = try response.json()["data"]?["requests"]?["code"] { throw ServiceError.payloadTooLarge }
            return nil
        case 403, 404:
            refusesBatches.withLock { $0 = true }
            return nil
        default: throw response.refusal
        }
        guard case .array(let replies)? = try? response.json() else {
            return operations.map { _ in .unknown("the response to a batch is not a list") }
        }
        return zip(operations.indices, operations).map { index, operation in
            guard index < replies.count, case .number(let text)? = replies[index]["status"], let status = Int(text),
                (200..<300).contains(status)
            else { return .unknown("the response to the batch does not include the change") }
            return .applied(
                operation.kind == .delete ? nil : replies[index]["body"].flatMap { row($0, of: operation.entity) })
        }
    }

    // MARK: Single requests

    private func single(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [PushOutcome] = []
        for operation in operations {
            do {
                outcomes.append(try await single(operation))
            } catch ServiceError.payloadTooLarge where operations.count > 1 {
                // The next run sends this change again, alone.
                outcomes.append(.unknown("the service rejected the request as too large (HTTP 413)"))
            } catch let failure as ServiceError where !outcomes.isEmpty {
                // Return the outcomes of the earlier changes. The next attempt sends this change and the later ones.
                var rest: Duration?
                if case .retryLater(let after, _) = failure { rest = after }
                return outcomes + operations[outcomes.count...].map { _ in .retry(after: rest) }
            }
        }
        return outcomes
    }

    private func single(_ operation: PushOperation) async throws -> PushOutcome {
        try await PushOutcome.of {
            let response = try await retryingAsUser(if: \.isRefused) {
                try await exchange.send(
                    Self.method(operation.kind), exchange.url(parts(operation)), sent(operation))
            }
            guard (200..<300).contains(response.status) else { return try await refused(response, operation) }
            if operation.kind == .delete { return .applied(nil) }
            guard let row = self.row(try response.json(), of: operation.entity) else {
                return .unknown("the response is not a record")
            }
            return .applied(row)
        }
    }

    /// Returns the outcome of a rejected change. The response is ambiguous, so the function fetches the record. The
    /// server reports a violated update rule like a missing record, and a repeated create like a violated unique index.
    func refused(_ response: ServiceHTTPClient.Response, _ operation: PushOperation) async throws -> PushOutcome {
        guard [400, 403, 404].contains(response.status), let id = operation.id else { throw response.refusal }
        let row = try await fetch([id], of: operation.entity).first
        let reason = "status \(response.status): \(response.fieldMessage)"
        switch (operation.kind, row) {
        case (.create, .found(let row)?): return .alreadyExists(row)
        case (.create, _):
            let isTaken = response.isTaken("id")
            return .rejected(isTaken ? "another row, hidden from the user, has this ID" : reason)
        case (.update, .found?) where response.status == 404:
            return .rejected("the update rule of '\(collection(of: operation.entity))' does not allow the change")
        case (.update, .notFound?): return .notFound
        case (.delete, .notFound?): return .applied(nil)
        case (.delete, .found?) where response.status == 404:
            return .rejected("the delete rule of '\(collection(of: operation.entity))' does not allow the deletion")
        case (.update, _), (.delete, _): return .rejected(reason)
        }
    }

    // MARK: Requests

    private static func method(_ kind: PushOperation.Kind) -> HTTPRequest.Method {
        switch kind {
        case .create: .post
        case .update: .patch
        case .delete: .delete
        }
    }

    private func sent(_ operation: PushOperation) -> JSONValue? {
        switch operation.kind {
        case .create: operation.id.map { operation.record.setting($0, at: ["id"]) } ?? operation.record
        case .update: operation.record
        case .delete: nil
        }
    }

    private func parts(_ operation: PushOperation) throws -> [String] {
        let path = path(of: operation.entity)
        return operation.kind == .create ? path : path + (try RowAddress(operation.id ?? .null).parts)
    }
}

extension ServiceHTTPClient.Response {
    /// Whether a rule, or an expired token, may be the reason for the status.
    var isRefused: Bool { [400, 403, 404].contains(status) }

    private var fields: [JSONValue.Member] {
        guard case .object(let members)? = (try? json())?["data"] else { return [] }
        return members
    }

    /// The error messages of all fields; the message of the response if no field has one.
    fileprivate var fieldMessage: String {
        let texts = fields.compactMap { field -> String? in
            guard case .string(let text)? = field.value["message"] else { return nil }
            return "\(field.key): \(text)"
        }
        return texts.isEmpty ? message : texts.joined(separator: " ")
    }

    /// Returns whether the server rejected the value of a field because another record has the value.
    fileprivate func isTaken(_ field: String) -> Bool {
        fields.first { $0.key == field }?.value["code"] == "validation_not_unique"
    }
}
