import FuzzSupport
import SyncCore

/// The result of mapping a payload: the payload graph as text, or an error.
struct MappingOutcome {
    var text = ""
    var error: SyncError?
    /// The reports of the graph.
    var reports = MappingReports()

    init(_ call: FuzzCall, withPlaces: Bool, _ body: (PayloadGraphBuilder) throws -> PayloadGraph) {
        self.init(call) { builder, outcome in
            let graph = try body(builder)
            outcome.text = graph.text(withPlaces: withPlaces)
            outcome.reports.add(graph)
        }
    }

    /// Maps the payload in chunks. Only the reports of all chunks can be compared with those of the whole payload.
    init(piecesOf call: FuzzCall) {
        self.init(call) { builder, outcome in
            let cuts = PayloadCuts(call.payload)
            var options = call.options
            options.chunkSize = cuts.chunkSize
            var size = 0
            var pieces = try ChunkedGraphBuilder(builder, options: options) { size = $0 }
            for chunk in cuts.chunks {
                var rest = chunk[...]
                while let piece = try pieces.next(from: &rest) { outcome.reports.add(piece.graph) }
            }
            outcome.reports.add(try pieces.last().graph)
            require(size == call.payload.count, "\(size) of \(call.payload.count) bytes were mapped")
        }
    }

    private init(_ call: FuzzCall, _ body: (PayloadGraphBuilder, inout MappingOutcome) throws -> Void) {
        do {
            let builder = try PayloadGraphBuilder(
                inEntity: call.entity, of: FuzzModel.model, parent: nil,
                operations: call.operations, options: call.options)
            try body(builder, &self)
        } catch let error as SyncError {
            self.error = error
            // The detected format depends on the bytes so far.
            self.error?.detectedFormat = nil
        } catch {
            fail("not a SyncError: \(error)")
        }
    }
}
