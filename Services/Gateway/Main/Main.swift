import GatewayDaemon

@main
struct Main {
    static func main() async {
        await GatewayService.main()
    }
}
