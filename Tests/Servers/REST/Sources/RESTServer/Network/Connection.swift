import Hummingbird
import NIOCore

/// The connection of a request, which the responder may have to close.
struct Connection: InitializableFromSource {
    /// The channel to the client.
    let channel: any Channel

    /// Creates the connection of a request.
    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// Closes the connection, without waiting for pending data.
    func close() async {
        // The only possible error is that the connection is closed already.
        try? await channel.close()
    }
}
