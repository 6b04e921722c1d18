import Glibc

/// Stops a private cluster and removes its files when this value is closed or this process is gone, for whatever
/// reason.
///
/// A killed process cannot clean up, so a small shell process waits at the other end of a pipe that only this process
/// has. For clusters that nothing has to outlive: tests, trials.
package final class ClusterGuard: Sendable {
    private let cluster: PrivateCluster
    private let descriptor: Int32
    private let processID: Int32

    /// - Parameter cluster: need not be running, and may be stopped and started in the meantime.
    package init(_ cluster: PrivateCluster) throws(ClusterError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ClusterError("cannot make a pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { Glibc.close(ends[0]) }
        let place = cluster.place
        let script = """
            cat > /dev/null
            pid=$(head -n 1 "$1/postmaster.pid" 2> /dev/null)
            if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$1" ]; then
                kill -QUIT "$pid"
                tries=0
                while kill -0 "$pid" 2> /dev/null && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
            fi
            rm -rf -- "$@"
            rmdir -- "${1%/*}" 2> /dev/null
            """
        do throws(ClusterError) {
            let child = try ChildProcess.start(
                "/bin/sh", ["-c", script, "sh", place.data, place.socket, place.logFolder, place.folder],
                environment: ClusterPlace.environment, log: nil, input: ends[0])
            processID = child.processID
        } catch {
            Glibc.close(ends[1])
            throw error
        }
        descriptor = ends[1]
        self.cluster = cluster
    }

    deinit {
        let server = cluster.processID
        Glibc.close(descriptor)
        // The server may be our child: it must be reaped, or the shell would wait for a dead process to disappear.
        while waitpid(processID, nil, WNOHANG) == 0 {
            if let server { _ = ChildProcess.hasEnded(server) }
            PrivateCluster.pause()
        }
    }
}
