import Foundation
import HTTPTypes
package import SyncCore

extension ParseService {
    private static let requestID = HTTPField.Name("X-Parse-Request-Id")

    /// Pushes changes in batches. A create without an ID or a marker field is sent alone, with a request ID that the
    /// server may recognize.
    package func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [PushOutcome] = []
        while outcomes.count < operations.count {
            let part = next(operations[outcomes.count...])
            do {
                outcomes += try await pushTogether(part)
            } catch let failure as ServiceError where !outcomes.isEmpty {
                // Return the outcomes of the earlier changes instead of throwing.
                var rest: Duration?
                if case .retryLater(let after, _) = failure { rest = after }
                outcomes += operations[outcomes.count...].map { _ in .retry(after: rest) }
            }
        }
        return outcomes
    }

    /// Returns the changes of the next batch. The order within a batch is undefined, so all changes in a batch have the
    /// same class and kind.
    private func next(_ operations: ArraySlice<PushOperation>) -> [PushOperation] {
        guard let first = operations.first else { return [] }
        if isSentAlone(first) { return [first] }
        return Array(
            operations.prefix(Self.batchSize).prefix {
                $0.entity == first.entity && $0.kind == first.kind && !isSentAlone($0)
            })
    }

    private func isSentAlone(_ operation: PushOperation) -> Bool {
        operation.kind == .create && capabilities.createIdempotency == .matchByContent
    }

    private enum Step {
        case request(ChangeRequest)
        case completed(PushOutcome)

        var outcome: PushOutcome? { if case .completed(let outcome) = self { outcome } else { nil } }
    }

    private func pushTogether(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var steps: [Step] = []
        let guessed = operations.map(guessedLists)
        for operation in operations {
            do {
                steps.append(try await step(operation))
            } catch let immediate as ImmediateOutcome {
                steps.append(.completed(immediate.outcome))
            } catch let refusal as RowAddress.Refusal {
                steps.append(.completed(.rejected(refusal.description)))
            }
        }
        let requests: [ChangeRequest] = steps.compactMap { if case .request(let request) = $0 { request } else { nil } }
        var answers: [JSONValue?]
        do {
            answers =
                switch requests.count {
                case 0: []
                case 1: [try await send(requests[0], operations.first)]
                default: try await sendBatch(requests)
                }
        } catch ServiceError.unreachable(let text, _), ServiceError.invalidResponse(let text) {
            // The server may have applied the changes.
            return steps.map { $0.outcome ?? .unknown(text) }
        }
        answers.reverse()
        var outcomes: [PushOutcome] = []
        for ((step, operation), guessed) in zip(zip(steps, operations), guessed) {
            if let outcome = step.outcome {
                outcomes.append(outcome)
            } else if let response = answers.popLast() ?? nil {
                outcomes.append(try await otherwise(response, operation, guessed) ?? outcome(response, operation))
            } else {
                // If a response is missing, the outcome is unknown.
                outcomes.append(.unknown("the response to the batch does not include the change"))
            }
        }
        return outcomes
    }

    /// Repeats a change that the server rejected because of the assumed kind of a to-many field, at most once for each
    /// such field.
    ///
    /// - Parameter guessed: The to-many fields whose kind was unknown when the change was sent.
    /// - Returns: The outcome; nil if the response has nothing to do with the kinds of fields.
    private func otherwise(
        _ response: JSONValue, _ operation: PushOperation, _ guessed: [ParseRecords.Field]
    ) async throws -> PushOutcome? {
        var (response, rest, flipped) = (response, guessed, [ParseRecords.Field]())
        while let error = response["error"].flatMap({ ParseError($0) }), error.code == ParseError.wrongType,
            !rest.isEmpty
        {
            let named = rest.filter { error.text.contains($0.name) }
            let wrong = named.isEmpty ? rest : named
            rest.removeAll { field in wrong.contains { $0.name == field.name } }
            // An earlier response in the batch may have shown the kind.
            let unknown = wrong.filter { observedArray($0, of: operation.entity) == nil }
            recordOppositeKind(unknown, of: operation.entity, isKnown: true)
            flipped += unknown
            do {
                guard case .request(let request) = try await step(operation) else { return nil }
                // A repetition needs another request ID than the rejected request.
                var again = operation
                again.idempotencyKey += "-list\(rest.count)"
                response = try await send(request, again)
            } catch let immediate as ImmediateOutcome {
                return immediate.outcome
            } catch ServiceError.unreachable(let text, _), ServiceError.invalidResponse(let text) {
                return .unknown(text)
            } catch ServiceError.retryLater(let after, _) {
                return .retry(after: after)
            } catch is ServiceError {
                // The server did not apply the change. Return the outcomes of the other changes in the batch instead of
                // throwing.
                return .retry(after: nil)
            }
        }
        guard rest.count < guessed.count else { return nil }
        if response["success"] == nil { recordOppositeKind(flipped, of: operation.entity, isKnown: false) }
        return outcome(response, operation)
    }

    /// Sends a single request.
    ///
    /// - Returns: The response in the format of a batch: an object with `success` or `error`.
    func send(_ request: ChangeRequest, _ operation: PushOperation?) async throws -> JSONValue {
        var headers: [HTTPField.Name: String] = [:]
        if let name = Self.requestID, let operation, isSentAlone(operation) { headers[name] = operation.idempotencyKey }
        let response = try await exchange.send(
            request.method, exchange.url(request.path), request.body, headers: headers)
        if (200..<300).contains(response.status) { return ["success": try response.json()] }
        guard ParseError(response) != nil else { throw try refusal(response) }
        return ["error": try response.json()]
    }

    private func sendBatch(_ requests: [ChangeRequest]) async throws -> [JSONValue?] {
        let body = ChangeRequest.batch(requests, below: exchange.base)
        let response = try await exchange.send(.post, exchange.url(["batch"]), body)
        guard (200..<300).contains(response.status) else {
            if let failure = ParseError(response)?.failure { throw failure }
            throw try refusal(response)
        }
        guard case .array(let answers) = try response.json() else {
            throw ServiceError.invalidResponse("the response to a batch is not a list")
        }
        return answers
    }

    /// Returns the error for a response that says nothing about an object.
    func refusal(_ response: ServiceHTTPClient.Response) throws -> ServiceError {
        // A 403 without an error number means that the application ID or key is unknown.
        if response.status == 403 { return .unauthorized("\(response.message) (\(response.endpoint))") }
        return response.refusal
    }

    // MARK: Requests

    private func step(_ operation: PushOperation) async throws -> Step {
        let path = path(of: className(of: operation.entity))
        switch operation.kind {
        case .create:
            var body = try creation(operation)
            if let marker = options.markerField { body = body.setting(.string(operation.idempotencyKey), at: [marker]) }
            if options.idAssignment == .client, let id = operation.id {
                // The initializer throws for an ID that cannot be in a URL: the row could never be changed.
                _ = try RowAddress(id)
                body = body.setting(id, at: [ParseRecords.id])
            }
            return .request(ChangeRequest(method: .post, path: path, body: body))
        case .update, .delete:
            let id = try RowAddress(operation.id ?? .null).parts
            if operation.kind == .delete {
                return .request(ChangeRequest(method: .delete, path: path + id, body: nil))
            }
            let body = try await update(operation)
            // All changed fields are server-owned, so there is nothing to send.
            if body == .object([]) { return .completed(.applied(nil)) }
            return .request(ChangeRequest(method: .put, path: path + id, body: body))
        }
    }

    // MARK: Responses

    func outcome(_ response: JSONValue, _ operation: PushOperation) -> PushOutcome {
        if let success = response["success"] { return done(success, operation) }
        guard let error = response["error"].flatMap({ ParseError($0) }) else {
            return .unknown("a response in the batch is neither success nor error")
        }
        switch error.meaning {
        case .failed, .repeated: return .unknown(error.reason)
        case .busy, .login: return .retry(after: nil)
        case .gone where operation.kind == .delete: return .applied(nil)
        case .gone where operation.kind == .update: return .notFound
        case .duplicate where operation.kind == .create && options.idAssignment == .client: return .alreadyExists(nil)
        case .gone, .duplicate, .refused: return .rejected(error.reason)
        }
    }

    /// Returns the outcome of a successful change. The response has the time of the change and the ID of a new object,
    /// but no other fields.
    private func done(_ success: JSONValue, _ operation: PushOperation) -> PushOutcome {
        let member = operation.kind == .create ? "createdAt" : "updatedAt"
        var version: String?
        if case .string(let text)? = success[member] { version = text }
        let time = version.flatMap { Date(isoText: $0) }
        switch operation.kind {
        case .delete: return .applied(nil)
        case .update:
            return .applied(operation.id.map { RemoteRecord(id: $0, record: nil, version: version, modifiedAt: time) })
        case .create:
            guard let id = success[ParseRecords.id] else {
                return .unknown("the response to a new row has no 'objectId'")
            }
            return .applied(RemoteRecord(id: id, record: nil, version: version, modifiedAt: time))
        }
    }
}
