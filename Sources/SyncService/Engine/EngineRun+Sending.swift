import SyncCore
import SyncStore

// Several requests are sent at the same time if the service allows it.
extension EngineRun {
    /// Returns the batches to send at the same time: the next batch, and batches that do not depend on it.
    ///
    /// Requests of one entity do not depend on each other: a row that references a new row is prepared after the
    /// response to that row, and so is the deletion of a row that another deleted row of its entity references.
    /// Requests of other entities wait, because they may be deletions of rows that these rows reference.
    func batchesSentTogether(of requests: ArraySlice<OutgoingRequest>, _ batchSize: Int) -> [[OutgoingRequest]] {
        let capabilities = service.capabilities
        guard let first = requests.first, capabilities.maxConcurrentRequests > 1, !capabilities.pushesAtomically else {
            return [Array(requests.prefix(batchSize))]
        }
        let independent = requests.prefix {
            $0.entity == first.entity && ($0.kind == .delete) == (first.kind == .delete)
        }
        return stride(from: independent.startIndex, to: independent.endIndex, by: batchSize)
            .prefix(capabilities.maxConcurrentRequests)
            .map { Array(independent[$0..<min($0 + batchSize, independent.endIndex)]) }
    }

    /// The responses to batches that were sent at the same time.
    struct SentBatches {
        /// The requests with a response.
        var requests: [OutgoingRequest] = []
        var outcomes: [PushOutcome] = []
        /// The batches without a response, in the order in which they were sent.
        var failed: [(batch: [OutgoingRequest], error: any Error)] = []
    }

    /// The response to one batch. In an optimized build, Swift 6.3 returns wrong values from a child task whose result
    /// is a tuple with a `Result`.
    private struct BatchResponse: Sendable {
        let index: Int
        let outcomes: Result<[PushOutcome], any Error>
    }

    /// Sends batches at the same time, and waits for all responses.
    func sendTogether(_ batches: [[OutgoingRequest]]) async -> SentBatches {
        var responses = await withTaskGroup(of: BatchResponse.self) { group in
            for (index, batch) in batches.enumerated() {
                group.addTask { [self] in await response(to: batch, index) }
            }
            var responses: [BatchResponse] = []
            for await response in group { responses.append(response) }
            return responses
        }
        responses.sort { $0.index < $1.index }
        var sent = SentBatches()
        for response in responses {
            switch response.outcomes {
            case .success(let outcomes):
                sent.requests += batches[response.index]
                sent.outcomes += outcomes
            case .failure(let error): sent.failed.append((batches[response.index], error))
            }
        }
        return sent
    }

    private func response(to batch: [OutgoingRequest], _ index: Int) async -> BatchResponse {
        do {
            return BatchResponse(index: index, outcomes: .success(try await pushed(batch)))
        } catch {
            return BatchResponse(index: index, outcomes: .failure(error))
        }
    }
}
