import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/** An OpenSearch of jars: FOLDER, then settings as name=value, then the classes of plugins. */
public class OpenSearchNode extends Node {
  @SuppressWarnings({"unchecked", "rawtypes"})
  OpenSearchNode(Settings settings, Path folder, Collection plugins) {
    super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), folder, () -> "n1"), plugins, true);
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Settings.Builder settings = Settings.builder().put("path.home", folder.toString());
    List<Object> plugins = new ArrayList<>();
    for (String argument : Arrays.asList(arguments).subList(1, arguments.length)) {
      int end = argument.indexOf('=');
      if (end > 0) {
        settings.put(argument.substring(0, end), argument.substring(end + 1));
      } else if (Version.CURRENT.major < 3) {
        plugins.add(Class.forName(argument));
      } else {
        plugins.add(new PluginInfo(argument, "", "", Version.CURRENT, "21", argument, null, List.of(), false));
      }
    }
    new OpenSearchNode(settings.build(), folder.resolve("config"), plugins).start();
    new CountDownLatch(1).await();
  }
}
